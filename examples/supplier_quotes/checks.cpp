// SPDX-License-Identifier: MIT
// One claim after another, each with fresh servers, or with a transport that does what a server cannot be made to do.
#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "stage.hpp"
#include "tally.hpp"

namespace quotes {

namespace {

using namespace std::chrono_literals;
using httplib::Error;
using nlohmann::json;

std::string asking_for(std::string_view scenario) { return json{{"scenario", scenario}}.dump(); }

/// "atlas 2898, boreal timeout": the offers with their totals, in order, then the failures.
std::string summary(const json& body) {
  std::string text;
  const auto add = [&](const json& supplier, const std::string& what) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", supplier.get<std::string>(), what);
  };
  for (const json& quote : body["quotes"]) add(quote["supplier"], quote["total_cents"].dump());
  for (const json& failure : body["failures"]) add(failure["supplier"], failure["code"].get<std::string>());
  return text;
}

/// Claims what came of a request, and how many requests boreal got for it, all with the one id that the answer tells.
void claim_answer(tally& checked, std::string_view what, const stage& at, const http_answer& got,
                  std::string_view expected, int requests) {
  const std::string came = got.status == 200 ? summary(got.body) : fmt::format("status {}", got.status);
  const std::string id = got.status == 200 ? got.body["request_id"] : json("");
  const bool counted = at.supplier.requests("boreal") == requests && at.supplier.requests("boreal", id) == requests &&
                       got.body["attempts"]["boreal"] == requests;
  checked.claim(came == expected && counted && got.ms() <= 850, "{}: {}, {} to boreal", what, came,
                at.supplier.requests("boreal"));
}

constexpr auto all_well = "boreal 2730, atlas 2898";

/// Waits until it is so, half a second at most.
template <class Condition> bool comes_true(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

// --- the scenarios ---------------------------------------------------------------------------------------------------

void scenarios(tally& checked) {
  struct row {
    const char* scenario;
    const char* expected;
    int requests;
  };
  for (const auto& [scenario, expected, requests] :
       {row{"normal", all_well, 1}, row{"flaky", all_well, 2}, row{"broken", "atlas 2898, boreal http_503", 2},
        row{"malformed", "atlas 2898, boreal invalid_data", 1}, row{"slow", "atlas 2898, boreal timeout", 1}}) {
    stage at;
    const auto got = at.post(asking_for(scenario));
    claim_answer(checked, scenario, at, got, expected, requests);
    if (std::string_view(scenario) == "slow")
      checked.claim(got.ms() >= 800, "slow takes the budget of 0.8 s and no more than 50 ms beyond: {:.1f} ms",
                    got.ms());
  }
}

void results_are_in_order(tally& checked) {
  stage at;
  const auto one = at.post(R"({"quantity": 1})");
  checked.claim(summary(one.body) == "cedar 1190, boreal 1540, atlas 1599" && one.body["best"]["supplier"] == "cedar",
                "offers come in order of their total: {}", summary(one.body));
  checked.claim(summary(at.post("{}").body) == all_well && at.supplier.requests("cedar") == 2,
                "too little stock is an answer: cedar is left out, no failure, and not asked again");
  at.supplier.overrule("atlas", [](const supplier_request&, httplib::Response& reply) {
    json offer = supplier_server::offer_of("boreal");
    offer["supplier"] = "atlas";
    std::this_thread::sleep_for(20ms);  // the later one
    supplier_server::send(offer, reply);
  });
  const auto equal = at.post("{}");
  checked.claim(summary(equal.body) == "atlas 2730, boreal 2730", "equal totals by supplier: {}", summary(equal.body));
  for (const auto supplier : {"atlas", "boreal", "cedar"})
    at.supplier.overrule(supplier, [](const supplier_request&, httplib::Response& reply) { reply.status = 503; });
  const auto none = at.post("{}");
  checked.claim(none.status == 200 && none.body["best"].is_null() &&
                    summary(none.body) == "atlas http_503, boreal http_503, cedar http_503",
                "suppliers that all say 503 give a 200 without a best offer: {}", summary(none.body));
}

// --- what is not asked again -----------------------------------------------------------------------------------------

void other_statuses_are_seen_once(tally& checked) {
  for (const int status : {204, 302, 400, 404, 429, 500, 502, 504}) {
    stage at;
    at.supplier.overrule("boreal", [=](const supplier_request&, httplib::Response& reply) { reply.status = status; });
    claim_answer(checked, fmt::format("a {}", status), at, at.post("{}"),
                 fmt::format("atlas 2898, boreal http_{}", status), 1);
  }
}

void bad_data_is_seen_once(tally& checked) {
  const auto with = [](const char* field, const json& value) {
    json offer = supplier_server::offer_of("boreal");
    offer[field] = value;
    return offer.dump();
  };
  const auto without_stock = [] {
    json offer = supplier_server::offer_of("boreal");
    offer.erase("stock");
    return offer.dump();
  };
  struct row {
    const char* what;
    std::string body;
  };
  for (const auto& [what, body] :
       {row{"half a JSON", R"({"supplier": "boreal", "sku)"}, row{"no body", ""}, row{"a list", "[]"},
        row{"a price below zero", with("unit_cents", -1)}, row{"a price of 11.9", with("unit_cents", 11.9)},
        row{"a stock of true", with("stock", true)}, row{"an endless price", with("unit_cents", ~std::uint64_t{0})},
        row{"another supplier's name", with("supplier", "atlas")}, row{"another article", with("sku", "KB-002")},
        row{"a field too many", with("colour", "black")}, row{"a field too few", without_stock()}}) {
    stage at;
    at.supplier.overrule("boreal", [&text = body](const supplier_request&, httplib::Response& reply) {
      reply.set_content(text, "application/json");
    });
    claim_answer(checked, what, at, at.post("{}"), "atlas 2898, boreal invalid_data", 1);
  }
}

void an_undecodable_body_is_seen_once(tally& checked) {
  stage at;
  at.supplier.overrule("boreal", [](const supplier_request&, httplib::Response& reply) {
    reply.set_header("Content-Encoding", "gzip");
    reply.set_content("\x1f\x8b\x08 this is no gzip", "application/json");
  });
  claim_answer(checked, "a body that cannot be unpacked", at, at.post("{}"), "atlas 2898, boreal invalid_data", 1);
  checked.claim(all_free(at.service), "after it all places and slots are free");
}

void a_second_answer_is_final(tally& checked) {
  stage at;
  at.supplier.overrule("boreal", [](const supplier_request& asked, httplib::Response& reply) {
    if (asked.number == 1) reply.status = 503;
    else reply.set_content("{}", "application/json");
  });
  claim_answer(checked, "a 503, then bad data", at, at.post("{}"), "atlas 2898, boreal invalid_data", 2);
}

// --- transport failures ----------------------------------------------------------------------------------------------

httplib::Result answered(int status, const std::string& body = {}) {
  auto response = std::make_unique<httplib::Response>();
  response->status = status;
  response->body = body;
  return {std::move(response), Error::Success};
}

httplib::Result offers(const supplier_call& call) {
  return answered(200, supplier_server::offer_of(std::string(call.supplier)).dump());
}

/// What came of one request to a service whose boreal fails like this, the given number of times.
struct played {
  std::string came;
  std::vector<std::string> ids;  // of the requests to boreal
};

played play(Error error, int failures) {
  played result;
  quote_service service([&](const supplier_call& call, const reprise::attempt&) {
    if (call.supplier != "boreal") return offers(call);
    result.ids.push_back(call.request_id);
    return static_cast<int>(result.ids.size()) > failures ? offers(call) : httplib::Result(nullptr, error);
  });
  const auto given = service.quote({});
  result.came = given ? summary(to_json(*given)) : "busy";
  if (!all_free(service)) result.came += ", and places or slots are lost";
  return result;
}

void transport_failures(tally& checked) {
  for (const Error error : {Error::Connection, Error::ConnectionTimeout, Error::Read, Error::Write}) {
    const auto [came, ids] = play(error, 1);
    checked.claim(came == all_well && ids.size() == 2 && ids[0] == ids[1],
                  "\"{}\", once: a second request with the same id, and {}", to_string(error), came);
    const auto [twice, all] = play(error, 9);
    checked.claim(twice == "atlas 2898, boreal transport_error" && all.size() == 2 && all[0] == all[1],
                  "\"{}\", always: {} requests, {}", to_string(error), all.size(), twice);
  }
  for (const Error error : {Error::Unknown, Error::BindIPAddress, Error::ExceedRedirectCount, Error::Canceled,
                            Error::SSLConnection, Error::Compression}) {
    const auto [came, ids] = play(error, 9);
    checked.claim(came == "atlas 2898, boreal transport_error" && ids.size() == 1,
                  "\"{}\" is no reason to ask again: {} request, {}", to_string(error), ids.size(), came);
  }
}

void a_connection_that_breaks(tally& checked) {
  stage at;
  at.supplier.overrule("boreal", [](const supplier_request& asked, httplib::Response& reply) {
    if (asked.number > 1) return supplier_server::send(supplier_server::offer_of("boreal"), reply);
    reply.set_content_provider(100, "application/json", [](std::size_t, std::size_t, httplib::DataSink&) {
      return false;  // hangs up in front of the body
    });
  });
  claim_answer(checked, "a connection that breaks in the middle of the first answer", at, at.post("{}"), all_well, 2);
}

void a_connection_that_is_refused(tally& checked) {
  stage at;
  const int closed = supplier_server().port();  // open a moment ago
  const transport open = over_http(at.supplier.port());
  const transport refused = over_http(closed);
  int sent = 0;
  quote_service service([&](const supplier_call& call, const reprise::attempt& attempt) {
    return call.supplier == "boreal" && ++sent == 1 ? refused(call, attempt) : open(call, attempt);
  });
  const auto given = service.quote({});
  checked.claim(given && summary(to_json(*given)) == all_well && sent == 2 && at.supplier.requests("boreal") == 1,
                "a connection that is refused at first: 2 attempts, the second arrives and is answered");
}

// --- waits, slots and the deadline -----------------------------------------------------------------------------------

void the_wait(tally& checked) {
  std::vector<double> waits;
  quote_service service(
      [](const supplier_call& call, const reprise::attempt&) {
        return call.supplier == "boreal" ? answered(503) : offers(call);
      },
      {}, [&](reprise::duration wait) { waits.push_back(std::chrono::duration<double, std::milli>(wait).count()); });
  for (int i = 0; i < 500; ++i) static_cast<void>(service.quote({}));
  const auto [shortest, longest] = std::minmax_element(waits.begin(), waits.end());
  checked.claim(waits.size() == 500 && *shortest >= 20 && *longest <= 30 && *longest - *shortest > 5,
                "500 waits lie between 20 and 30 ms and are not alike: {:.2f} to {:.2f} ms", *shortest, *longest);

  stage at;
  static_cast<void>(at.post(asking_for("broken")));
  const auto seen = at.supplier.arrivals("boreal");
  checked.claim(seen.size() == 2 && seen[1].at - seen[0].at >= 20ms,
                "on the wire a second request comes 20 ms after the first at the earliest");
}

void all_are_asked_at_the_same_time(tally& checked) {
  std::atomic<int> asked = 0;
  std::atomic<int> met = 0;
  quote_service service([&](const supplier_call& call, const reprise::attempt&) {
    ++asked;
    if (comes_true([&] { return asked == 3; })) ++met;
    return offers(call);
  });
  static_cast<void>(service.quote({}));
  checked.claim(met == 3 && service.most_outbound() == 3, "all three are asked at the same time");
}

void the_slot_is_given_back_before_the_wait(tally& checked) {
  std::atomic<int> sent = 0;
  std::atomic<int> seen_by_the_first = 0;
  std::atomic_flag waited;
  quote_service service(
      [&](const supplier_call&, const reprise::attempt&) {
        ++sent;
        return answered(503);
      },
      {.outbound = 1},
      [&](reprise::duration) {
        if (waited.test_and_set()) return;
        comes_true([&] { return sent >= 3; });
        seen_by_the_first = sent.load();
      });
  static_cast<void>(service.quote({}));
  checked.claim(seen_by_the_first >= 3 && sent == 6,
                "with a single slot the others are asked while the first waits: {} requests by then",
                seen_by_the_first.load());
}

void the_second_attempt_queues_again(tally& checked) {
  std::vector<steady::time_point> sent;
  steady::time_point given_back;
  std::future<void> holding;
  quote_service service(
      [&](const supplier_call& call, const reprise::attempt&) {
        if (call.supplier != "boreal") return offers(call);
        sent.push_back(steady::now());
        return answered(503);
      },
      {.outbound = 1},
      [&](reprise::duration) {  // in the wait somebody else takes the slot
        holding = std::async(std::launch::async,
                             [&, slot = service.outbound().acquire_until(steady::now() + 400ms)]() mutable {
                               std::this_thread::sleep_for(100ms);
                               given_back = steady::now();
                               slot.reset();
                             });
      });
  static_cast<void>(service.quote({}));
  holding.get();
  checked.claim(sent.size() == 2 && sent[1] >= given_back, "the second attempt queues for a slot again");
}

void queueing_is_part_of_the_budget(tally& checked) {
  stage at;
  std::vector<reprise::bulkhead::slot> held;
  while (auto slot = at.service.outbound().try_acquire()) held.push_back(std::move(*slot));
  const auto got = at.post("{}");
  checked.claim(summary(got.body) == "atlas timeout, boreal timeout, cedar timeout" && got.ms() >= 800 &&
                    got.ms() <= 850 && at.supplier.requests("atlas") == 0 && got.body["attempts"]["atlas"] == 0,
                "queueing for a slot is part of the budget: no slot for {:.1f} ms, and nothing was sent", got.ms());
  held.clear();
  checked.claim(all_free(at.service) && summary(at.post("{}").body) == all_well,
                "the slots are back after the timeouts, and the next request is served");
}

void the_deadline_comes_during_the_wait(tally& checked) {
  stage at;
  at.supplier.overrule("boreal", [&](const supplier_request&, httplib::Response& reply) {
    at.supplier.pause(785ms);
    reply.status = 503;
  });
  int waits = 0;
  quote_service service(over_http(at.supplier.port()), {}, [&](reprise::duration) { ++waits; });
  const auto given = service.quote({});
  checked.claim(given && summary(to_json(*given)) == "atlas 2898, boreal timeout" && waits == 0 &&
                    at.supplier.requests("boreal") == 1,
                "a 503 after 785 ms is too late for a wait of 20: a timeout, {} waits, {} request", waits,
                at.supplier.requests("boreal"));
}

void the_deadline_comes_in_the_second_attempt(tally& checked) {
  stage at;
  at.supplier.overrule("boreal", [&](const supplier_request& asked, httplib::Response& reply) {
    if (asked.number > 1) at.supplier.pause(2s);
    reply.status = 503;
  });
  const auto got = at.post("{}");
  claim_answer(checked, "a 503, then silence: no second timer", at, got, "atlas 2898, boreal timeout", 2);
  checked.claim(got.ms() >= 800, "it took the one budget: {:.1f} ms", got.ms());
}

// --- admission -------------------------------------------------------------------------------------------------------

void the_ninth_is_refused(tally& checked) {
  stage at;
  std::promise<void> open;
  const std::shared_future<void> opened = open.get_future().share();
  for (const std::string supplier : {"atlas", "boreal", "cedar"})
    at.supplier.overrule(supplier, [opened](const supplier_request& asked, httplib::Response& reply) {
      opened.wait_for(600ms);
      supplier_server::send(supplier_server::offer_of(asked.supplier), reply);
    });
  std::vector<std::future<http_answer>> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(std::async(std::launch::async, [&] { return at.post("{}"); }));
  const bool full = comes_true([&] { return at.service.inbound().free() == 0; });
  const auto ninth = at.post("{}");
  checked.claim(full && ninth.status == 503 && ninth.retry_after == "1" && ninth.ms() <= 50,
                "the ninth is refused at once: {}, Retry-After: {}, after {:.1f} ms", ninth.status, ninth.retry_after,
                ninth.ms());
  const auto bad = at.post(R"({"quantity": 0})");
  checked.claim(bad.status == 422 && ninth.body["detail"].is_string(), "a bad request is told so even then");
  open.set_value();
  int served = 0;
  for (auto& one : eight) served += one.get().status == 200 ? 1 : 0;
  checked.claim(served == 8 && all_free(at.service), "the eight are served; the refusal took and kept no place");
  checked.claim(at.post("{}").status == 200, "capacity is back after a refusal");
}

void capacity_comes_back(tally& checked) {
  stage at;
  for (const auto scenario : {"normal", "broken", "malformed", "slow"}) {
    std::vector<std::future<http_answer>> rush;
    for (int i = 0; i < 12; ++i)
      rush.push_back(std::async(std::launch::async, [&] { return at.post(asking_for(scenario)); }));
    int answers = 0;
    for (auto& one : rush) {
      const int status = one.get().status;
      answers += status == 200 || status == 503 ? 1 : 0;
    }
    checked.claim(answers == 12 && all_free(at.service), "capacity is back after 12 at once, {}", scenario);
  }
}

void a_programming_error_is_not_disguised(tally& checked) {
  std::atomic<bool> faulty = true;
  std::atomic<int> sent = 0;
  quote_service service([&](const supplier_call& call, const reprise::attempt&) {
    if (call.supplier != "boreal") return offers(call);
    ++sent;
    if (faulty) throw std::logic_error("an index out of range");
    return offers(call);
  });
  std::string message;
  try {
    static_cast<void>(service.quote({}));
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  checked.claim(message == "an index out of range" && sent == 1,
                "an exception in the transport passes through unchanged, after one attempt: {}", message);
  checked.claim(all_free(service), "after it all places and slots are free");

  const quote_api api(service);
  bool all_500 = true;
  for (int i = 0; i < 10; ++i) all_500 = all_500 && post(api.port(), "{}").status == 500;
  checked.claim(all_500 && all_free(service), "over HTTP it is a 500, ten times; no place is lost");
  faulty = false;
  checked.claim(post(api.port(), "{}").status == 200, "capacity is back after exceptions");
}

// --- bad requests ----------------------------------------------------------------------------------------------------

void bad_requests_get_a_sentence(tally& checked) {
  stage at;
  for (const std::string body :
       {R"({"quantity": "2"})", R"({"quantity": 0})", R"({"quantity": 101})", R"({"quantity": true})",
        R"({"quantity": 2.0})", R"({"quantity": 18446744073709551615})", R"({"quantity": null})", R"({"sku": ""})",
        R"({"sku": 7})", R"({"scenario": "sunny"})", R"({"url": "http://127.0.0.1/"})", "[]", "{", ""}) {
    const auto got = at.post(body);
    const std::string detail = got.body.is_object() ? got.body.value("detail", "") : "";
    checked.claim(got.status == 422 && detail.size() > 20 && detail.back() == '.', "422 for {}: {}",
                  body.empty() ? "no body" : body, detail);
  }
  const auto long_sku = at.post(json{{"sku", std::string(65, 'x')}}.dump());
  checked.claim(long_sku.status == 422, "422 for a sku of 65 bytes: {}", long_sku.body["detail"].get<std::string>());
  const bool unasked = at.supplier.requests("atlas") == 0 && at.supplier.requests("boreal") == 0;
  checked.claim(unasked, "for bad requests no supplier is asked");
  checked.claim(at.post(R"({"quantity": 100})").status == 200 && at.post(R"({"quantity": 1})").status == 200,
                "1 and 100 are quantities");
}

}  // namespace

void check(tally& checked) {
  for (const auto claims : {scenarios,
                            results_are_in_order,
                            other_statuses_are_seen_once,
                            bad_data_is_seen_once,
                            an_undecodable_body_is_seen_once,
                            a_second_answer_is_final,
                            transport_failures,
                            a_connection_that_breaks,
                            a_connection_that_is_refused,
                            all_are_asked_at_the_same_time,
                            the_wait,
                            the_slot_is_given_back_before_the_wait,
                            the_second_attempt_queues_again,
                            queueing_is_part_of_the_budget,
                            the_deadline_comes_during_the_wait,
                            the_deadline_comes_in_the_second_attempt,
                            the_ninth_is_refused,
                            capacity_comes_back,
                            a_programming_error_is_not_disguised,
                            bad_requests_get_a_sentence})
    claims(checked);
}

}  // namespace quotes
