import assert from "node:assert/strict";
import { LoginRecords } from "@/lib/operations/audit/login_records.ts";
import type { AuditEvent, AuditLogin } from "@/lib/http/audit_event.ts";

function recorded() {
  const events: AuditEvent[] = [];
  const record = (event: AuditEvent) => {
    events.push(event);
    return Promise.resolve();
  };
  const logins = new LoginRecords({ requireRoom() {}, record, note: (event) => void record(event) });
  return { logins, events };
}

let requests = 0;

function login(further: Partial<AuditLogin> = {}): AuditLogin {
  const actor = { name: "curator", tenant: "archive" };
  const requestId = `request-${++requests}`;
  const source = {};
  return { source, actor, address: "192.0.2.7", requestId, role: "gateway", status: 401, details: {}, ...further };
}

Deno.test("login records: several sides of one request are one record, those of two requests two", () => {
  const { logins, events } = recorded();
  const form = login({ role: "results", status: 200 });
  logins.accepted(form);
  logins.accepted({ ...form, role: "web" });
  logins.accepted(login({ status: 200 }));
  assert.deepEqual(events.map(({ action, role }) => [action, role]), [["login", "results"], ["login", "gateway"]]);
  logins.flush();
});

Deno.test("login records: guesses count one by one though their client gives all of them one request id", () => {
  const { logins, events } = recorded();
  for (let n = 0; n < 10; n++) {
    const guess = login({ requestId: "mine", role: "results" });
    logins.failed(guess);
    logins.failed({ ...guess, role: "web" });
    logins.failed(login({ requestId: "mine" }));
    logins.accepted(login({ requestId: "mine", status: 200 }));
  }
  logins.flush();
  const counted = (action: string) => events.filter((event) => event.action === action);
  assert.equal(counted("login_failed").reduce((sum, { details }) => sum + Number(details?.count), 0), 20);
  assert.equal(counted("login").length, 10);
});

Deno.test("login records: a flood of guesses is a few records, whose counts are all of them", () => {
  const { logins, events } = recorded();
  for (let n = 0; n < 5000; n++) {
    logins.failed(login({ actor: { name: `guess ${n % 500}`, tenant: "archive" }, address: `192.0.2.${n % 50}` }));
  }
  logins.flush();
  assert.ok(events.length <= 201, String(events.length));
  const counts = events.map(({ details }) => Number(details?.count));
  assert.equal(counts.reduce((sum, count) => sum + count, 0), 5000);
  assert.ok(events.every(({ action, result }) => action === "login_failed" && result === "refused"));
});

Deno.test("login records: a logout is recorded before it is confirmed", async () => {
  const { logins, events } = recorded();
  await logins.loggedOut(login({ status: 303 }));
  assert.deepEqual(events.map(({ action, target }) => [action, target.name]), [["logout", "curator"]]);
});
