import { type Attack, head, holdConnections, PATIENT_MS } from "./hostile_connections.ts";

/** More than each role admits. */
const LOGINS = 2080;

/** Logins without a body, half at the results role and half at the gateway. */
export const slowLogins: Attack = {
  name: "slow logins",
  async run(target, stop, got) {
    let next = 0;
    const text = () => {
      const path = next++ % 2 ? "/api/v1/auth/token" : "/results/_login";
      const type = "application/x-www-form-urlencoded";
      return head("POST", path, { "Content-Type": type, "Content-Length": "100" }) + "u";
    };
    await holdConnections(target, { count: LOGINS, againMs: PATIENT_MS }, text, stop, got);
  },
};

const HALF_HEADS = 2000;

/** Connections that send no more than half of a head. */
export const halfHeads: Attack = {
  name: "half heads",
  run(target, stop, got) {
    const half = head("GET", "/", {}).slice(0, -2);
    return holdConnections(target, { count: HALF_HEADS, againMs: PATIENT_MS }, () => half, stop, got);
  },
};

const UNREAD = 900;
/** A single response fits into the buffers of a connection. */
const REQUESTS = 100;

/** Connections that ask for a long public answer again and again, and read none. */
export const unreadAnswers: Attack = {
  name: "unread answers",
  run(target, stop, got) {
    const text = head("GET", "/openapi.json", {}).repeat(REQUESTS);
    return holdConnections(target, { count: UNREAD, againMs: PATIENT_MS, isDeaf: true }, () => text, stop, got);
  },
};
