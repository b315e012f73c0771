// SPDX-License-Identifier: MIT
// The three suppliers, behind one server that misbehaves as the scenario asks and counts what reaches it.
// Knows nothing of reprise, and is the witness of what the service claims.
#pragma once

#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "loopback.hpp"

namespace quotes {

/// One request, as the server sees it.
struct supplier_request {
  std::string supplier;
  std::string sku;
  std::string scenario;
  /// The how-manieth with this request id, from 1.
  int number = 0;
};

/// One request, as the server wrote it down.
struct arrival {
  std::chrono::steady_clock::time_point at;
  std::string request_id;
};

/// GET /quotes/{supplier}?sku=..&scenario=.. with an X-Request-ID.
class supplier_server {
 public:
  using behaviour = std::function<void(const supplier_request&, httplib::Response&)>;

  supplier_server()
      : http_(64, [this](httplib::Server& http) {
          http.Get("/quotes/(atlas|boreal|cedar)", [this](const auto& request, auto& reply) { serve(request, reply); });
        }) {}
  ~supplier_server() { closing_.set_value(); }

  int port() const { return http_.port(); }

  /// How many requests reached a supplier.
  int requests(const std::string& supplier) const {
    const std::lock_guard lock(mutex_);
    const auto found = arrivals_.find(supplier);
    return found == arrivals_.end() ? 0 : static_cast<int>(found->second.size());
  }
  /// How many of them had this id.
  int requests(const std::string& supplier, const std::string& request_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find({supplier, request_id});
    return found == by_id_.end() ? 0 : found->second;
  }
  std::vector<arrival> arrivals(const std::string& supplier) const {
    const std::lock_guard lock(mutex_);
    const auto found = arrivals_.find(supplier);
    return found == arrivals_.end() ? std::vector<arrival>{} : found->second;
  }

  /// From now on this supplier does that, whatever the scenario.
  void overrule(const std::string& supplier, behaviour instead) {
    const std::lock_guard lock(mutex_);
    overruled_[supplier] = std::move(instead);
  }

  // For behaviours.

  /// Waits so long, or until the server closes.
  void pause(std::chrono::milliseconds time) const { closed_.wait_for(time); }

  /// What the supplier has to offer: two keyboards are cheapest at boreal's; cedar is cheaper but has only one.
  static nlohmann::json offer_of(const std::string& supplier) {
    nlohmann::json offer{{"supplier", supplier}, {"sku", "KB-001"}};
    if (supplier == "atlas") offer.update({{"unit_cents", 1299}, {"shipping_cents", 300}, {"stock", 40}});
    if (supplier == "boreal") offer.update({{"unit_cents", 1190}, {"shipping_cents", 350}, {"stock", 25}});
    if (supplier == "cedar") offer.update({{"unit_cents", 990}, {"shipping_cents", 200}, {"stock", 1}});
    return offer;
  }
  static void send(const nlohmann::json& body, httplib::Response& reply) {
    reply.set_content(body.dump(), "application/json");
  }

 private:
  void serve(const httplib::Request& request, httplib::Response& reply) {
    supplier_request asked{request.matches[1], request.get_param_value("sku"), request.get_param_value("scenario")};
    behaviour behave = [this](const auto& what, auto& answer) { by_scenario(what, answer); };
    {
      const std::lock_guard lock(mutex_);
      const std::string id = request.get_header_value("X-Request-ID");
      arrivals_[asked.supplier].push_back({std::chrono::steady_clock::now(), id});
      asked.number = ++by_id_[{asked.supplier, id}];
      if (const auto found = overruled_.find(asked.supplier); found != overruled_.end()) behave = found->second;
    }
    behave(asked, reply);
  }

  /// Every scenario is boreal's; the others are well.
  void by_scenario(const supplier_request& asked, httplib::Response& reply) const {
    const bool boreal = asked.supplier == "boreal";
    nlohmann::json offer = offer_of(asked.supplier);
    pause(std::chrono::milliseconds(5));
    if (asked.sku != "KB-001") {
      reply.status = 404;
    } else if (boreal && (asked.scenario == "broken" || (asked.scenario == "flaky" && asked.number == 1))) {
      reply.status = 503;
    } else {
      if (boreal && asked.scenario == "slow") pause(std::chrono::milliseconds(1500));
      if (boreal && asked.scenario == "malformed") offer["unit_cents"] = "1190";
      send(offer, reply);
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<arrival>> arrivals_;
  std::map<std::pair<std::string, std::string>, int> by_id_;
  std::map<std::string, behaviour> overruled_;
  std::promise<void> closing_;
  std::shared_future<void> closed_ = closing_.get_future();
  loopback_server http_;  // the last: it stops before the rest goes
};

}  // namespace quotes
