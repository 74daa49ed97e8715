import { type Attack, head, holdConnections, PATIENT_MS } from "./hostile_connections.ts";

const CONNECTIONS = 900;
/** One answer fits into the buffers of a connection, so many do not. */
const REQUESTS = 100;

/** Connections that ask for a long public answer again and again, and read none. */
export const unreadAnswers: Attack = {
  name: "unread answers",
  run(target, stop, got) {
    const text = head("GET", "/openapi.json", {}).repeat(REQUESTS);
    return holdConnections(target, { count: CONNECTIONS, againMs: PATIENT_MS, isDeaf: true }, () => text, stop, got);
  },
};
