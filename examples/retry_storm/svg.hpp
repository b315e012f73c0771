// SPDX-License-Identifier: MIT
// Drawing as SVG that reads on light and on dark paper. Knows nothing of what is drawn.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace storm::svg {

struct point {
  double x = 0;
  double y = 0;
};

/// Maps values to pixels; a logarithmic one takes values above 0.
struct scale {
  double from = 0;
  double to = 1;
  double at_from = 0;  ///< pixels
  double at_to = 1;
  bool logarithmic = false;

  double operator()(double value) const {
    const double share = logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
    return at_from + (at_to - at_from) * share;
  }
};

enum class anchor { start, middle, end };

class drawing {
 public:
  drawing(int width, int height, std::string_view title) : text_(fmt::format(head, width, height, title)) {}

  void line(point from, point to, std::string_view style) {
    add(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", style, from.x, from.y, to.x, to.y);
  }
  void path(const std::vector<point>& points, std::string_view style) {
    std::string way;
    for (const point& at : points)
      fmt::format_to(std::back_inserter(way), "{}{:.1f} {:.1f}", way.empty() ? 'M' : 'L', at.x, at.y);
    add(R"(<path class="{}" d="{}"/>)", style, way);
  }
  void box(point corner, double width, double height, std::string_view style) {
    add(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", style, corner.x, corner.y, width,
        height);
  }
  void text(point at, anchor where, std::string_view words, std::string_view style = "plain") {
    constexpr std::string_view names[] = {"start", "middle", "end"};
    add(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", style, at.x, at.y,
        names[static_cast<int>(where)], words);
  }

  std::string finished() const { return text_ + "</svg>\n"; }

 private:
  template <class... Values> void add(fmt::format_string<const Values&...> text, const Values&... values) {
    fmt::format_to(std::back_inserter(text_), text, values...);
    text_ += '\n';
  }

  // Colours that the colour-blind tell apart (Okabe and Ito), lighter on dark paper.
  static constexpr auto head =
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">
<title>{2}</title>
<style>
text{{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#24292f}}
.strong{{font-weight:600}}.small{{font-size:11px}}.cell{{font-size:11px;fill:#24292f}}
path{{fill:none;stroke-width:2;stroke-linejoin:round}}
.paper{{fill:#fff}}.axis{{stroke:#57606a;stroke-width:1}}.grid{{stroke:#d8dee4;stroke-width:1}}.shade{{fill:#afb8c1;fill-opacity:.35}}
.s0{{stroke:#57606a;stroke-dasharray:2 3}}.s1{{stroke:#d55e00}}.s2{{stroke:#0072b2}}.s3{{stroke:#009e73;stroke-dasharray:9 5}}.s4{{stroke:#aa4a8c;stroke-dasharray:4 3}}
.well{{fill:#b7e3d0}}.partly{{fill:#f6dfa4}}.never{{fill:#f3b8a0}}
@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}.cell{{fill:#0d1117}}.paper{{fill:#0d1117}}.axis{{stroke:#9198a1}}.grid{{stroke:#30363d}}.shade{{fill:#6e7681}}
.s0{{stroke:#9198a1}}.s1{{stroke:#f0883e}}.s2{{stroke:#56b4e9}}.s3{{stroke:#2fc79a}}.s4{{stroke:#e08ac4}}
.well{{fill:#5cb893}}.partly{{fill:#d9b44a}}.never{{fill:#e07b52}}}}
</style>
<rect class="paper" width="{0}" height="{1}"/>
)";

  std::string text_;
};

}  // namespace storm::svg
