import { type Attack, head, holdConnections, inventedTokens, PATIENT_MS } from "./hostile_connections.ts";

const CONNECTIONS = 60;
/** Just more than the first share of memory that an upload without a length takes, bytes. */
const SENT_BYTES = 270_000;

/** Uploads without a length, with wrong credentials, that stop after a while: for the memory that uploads share. */
export const chunkedUploads: Attack = {
  name: "chunked uploads, 270 kB",
  async run(target, stop, got) {
    const token = await inventedTokens(target, CONNECTIONS);
    const chunk = `${SENT_BYTES.toString(16)}\r\n${"x".repeat(SENT_BYTES)}\r\n`;
    const text = () => {
      const headers = { Authorization: `Bearer ${token()}`, "Transfer-Encoding": "chunked" };
      return head("PUT", "/api/v1/buckets/siege/objects/stolen", headers) + chunk;
    };
    await holdConnections(target, { count: CONNECTIONS, againMs: PATIENT_MS }, text, stop, got);
  },
};
