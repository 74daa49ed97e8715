import { type Attack, head, holdConnections, PATIENT_MS } from "./hostile_connections.ts";

const CONNECTIONS = 2000;

/** Connections that send no more than half of a head. */
export const halfHeads: Attack = {
  name: "half heads",
  run(target, stop, got) {
    const half = head("GET", "/", {}).slice(0, -2);
    return holdConnections(target, { count: CONNECTIONS, againMs: PATIENT_MS }, () => half, stop, got);
  },
};
