import { type Attack, head, holdConnections, inventedTokens, PATIENT_MS } from "./hostile_connections.ts";

/** Just more than the first share of memory that an upload without a length takes, bytes. */
const CHUNK_BYTES = 270_000;

/** An upload that is sent in part, over many connections, each with an invented token. */
interface FalseUpload {
  readonly name: string;
  readonly connections: number;
  readonly tokens: number;
  /** Framing of the body. */
  readonly framing: Readonly<Record<string, string>>;
  /** The part of the body that is sent. */
  readonly body: string;
}

function falseUploads({ name, connections, tokens, framing, body }: FalseUpload): Attack {
  return {
    name,
    async run(target, stop, got) {
      const token = await inventedTokens(target, tokens);
      const text = () =>
        head("PUT", "/api/v1/buckets/siege/objects/stolen", { Authorization: `Bearer ${token()}`, ...framing }) + body;
      await holdConnections(target, { count: connections, againMs: PATIENT_MS }, text, stop, got);
    },
  };
}

/** Uploads that send 1 of 100 bytes: as many as the gateway has places. */
export const inventedTokenUploads = falseUploads({
  name: "invented tokens, 1 of 100 bytes",
  connections: 1040,
  tokens: 50,
  framing: { "Content-Length": "100" },
  body: "x",
});

/** Uploads without a length that stop after a while: for the memory that uploads share. */
export const chunkedUploads = falseUploads({
  name: "chunked uploads, 270 kB",
  connections: 60,
  tokens: 60,
  framing: { "Transfer-Encoding": "chunked" },
  body: `${CHUNK_BYTES.toString(16)}\r\n${"x".repeat(CHUNK_BYTES)}\r\n`,
});
