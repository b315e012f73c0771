# Installs the headers and a package for find_package(reprise); the build tree is a package too.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(reprise_package_dir "${CMAKE_INSTALL_DATAROOTDIR}/cmake/reprise")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/reprise" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS reprise EXPORT reprise_targets)
install(EXPORT reprise_targets NAMESPACE reprise:: FILE reprise-targets.cmake DESTINATION "${reprise_package_dir}")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/reprise-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file("${PROJECT_SOURCE_DIR}/cmake/reprise-config.cmake" "${PROJECT_BINARY_DIR}/reprise-config.cmake" COPYONLY)
install(FILES "${PROJECT_BINARY_DIR}/reprise-config.cmake" "${PROJECT_BINARY_DIR}/reprise-config-version.cmake"
  DESTINATION "${reprise_package_dir}")

export(EXPORT reprise_targets NAMESPACE reprise:: FILE "${PROJECT_BINARY_DIR}/reprise-targets.cmake")
