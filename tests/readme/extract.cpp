// SPDX-License-Identifier: MIT
// Takes the code out of README.md, so that a test can compile and run it: extract README.md <folder>.
// A C++ block is at namespace scope; one after the comment <!-- body --> is the body of a function. A text block after
// a C++ block is what it prints. The blocks before the first section make one program; all later ones make another.
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct output {
  std::string program;
  std::string recipes = "#include \"prelude.hpp\"\n";
  std::string calls;
  std::string program_prints;
  std::string recipes_print;
  std::string cmake;
  int bodies = 0;
};

void take(output& out, std::string_view language, const std::string& block, bool first_screen, bool is_body, int line) {
  const std::string place = "#line " + std::to_string(line + 1) + " \"README.md\"\n";
  if (language == "text") {
    (first_screen ? out.program_prints : out.recipes_print) += block;
  } else if (language == "cmake") {
    out.cmake += block;
  } else if (language == "cpp" && is_body) {
    const std::string name = "recipe_" + std::to_string(++out.bodies);
    out.recipes +=
        "void " + name + "() {\n[[maybe_unused]] reprise::testing::fake_clock time;\n" + place + block + "}\n";
    out.calls += "  " + name + "();\n";
  } else if (language == "cpp") {
    (first_screen ? out.program : out.recipes) += place + block;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "extract requires two arguments: write extract README.md <folder>\n";
    return 2;
  }
  std::ifstream readme(arguments[1]);
  if (!readme) {
    std::cerr << "extract cannot read " << arguments[1] << '\n';
    return 2;
  }

  output out;
  out.program = "#include <reprise/testing/script.hpp>\n";
  bool first_screen = true;
  bool is_body = false;
  bool inside = false;
  std::string language;
  std::string block;
  int number = 0;
  int began = 0;
  for (std::string line; std::getline(readme, line);) {
    ++number;
    if (!inside && line.starts_with("## ")) first_screen = false;
    if (!inside && line == "<!-- body -->") is_body = true;
    if (!line.starts_with("```")) {
      if (inside) block += line + '\n';
      continue;
    }
    if (!inside) {
      language = line.substr(3);
      block.clear();
      began = number;
    } else {
      take(out, language, block, first_screen, is_body, began);
      is_body = false;
    }
    inside = !inside;
  }
  out.recipes += "int main() {\n" + out.calls + "}\n";

  const std::string folder = arguments[2];
  std::ofstream(folder + "/program.cpp") << out.program;
  std::ofstream(folder + "/recipes.cpp") << out.recipes;
  std::ofstream(folder + "/program.txt") << out.program_prints;
  std::ofstream(folder + "/recipes.txt") << out.recipes_print;
  std::ofstream(folder + "/fetch.cmake") << out.cmake;
  std::cout << out.bodies << " recipes\n";
  return out.bodies > 0 && !out.cmake.empty() && !out.program_prints.empty() ? 0 : 1;
}
