import { type Attack, head, holdConnections, PATIENT_MS } from "./hostile_connections.ts";

/** For either role more than it has places. */
const CONNECTIONS = 2080;

/** Logins whose bodies never come, half at the results role and half at the gateway. */
export const slowLogins: Attack = {
  name: "slow logins",
  async run(target, stop, got) {
    let next = 0;
    const text = () => {
      const path = next++ % 2 ? "/api/v1/auth/token" : "/results/_login";
      const type = "application/x-www-form-urlencoded";
      return head("POST", path, { "Content-Type": type, "Content-Length": "100" }) + "u";
    };
    await holdConnections(target, { count: CONNECTIONS, againMs: PATIENT_MS }, text, stop, got);
  },
};
