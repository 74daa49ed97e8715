import { type ServerProcess, startServerProcess } from "@/bench/server_process.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { startApplication } from "@/tests/application.ts";
import { TEST_CA } from "@/tests/lib/http/certificates.ts";
import { RECORDS } from "./upstream_records.ts";

/** A server under test in a separate process. */
export interface AskedServer {
  readonly name: "direct" | "floor" | "gateway";
  readonly origin: string;
  readonly pid: number;
  /** Headers that every request carries. */
  readonly headers: readonly (readonly [string, string])[];
  /** The URL of an object; its key is encoded. */
  object(key: string): string;
  /** The URL of a record of the tenant in MAPI. */
  record(path: string): string;
}

/** The gateway, the floor, and the store that both hand on to, in the order in which they take turns. */
export interface SideBySide {
  readonly direct: AskedServer;
  readonly floor: AskedServer;
  readonly gateway: AskedServer;
  stop(): Promise<void>;
}

/** The bucket and tenant of all requests. */
export const BUCKET = "notes";
export const TENANT = "archive";
const LOGIN = `username=${TENANT}%2Fcurator&password=a-password-of-the-benchmark`;

/** Starts all three. The gateway is the application as an operator starts it, before a store of its own. */
export async function startSideBySide(): Promise<SideBySide> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.reverse()) await one();
  };
  try {
    const upstream = await startServerProcess("bench/gateway/upstream_server.ts", []);
    stops.push(upstream.stop);
    const { s3, mapiPort } = JSON.parse(upstream.line);
    const floor = await startServerProcess("bench/gateway/pass_through.ts", [s3, `https://127.0.0.1:${mapiPort}`]);
    stops.push(floor.stop);
    const caFile = await Deno.makeTempFile({ prefix: "stackroom-bench-", suffix: ".pem" });
    stops.push(() => Deno.remove(caFile));
    await Deno.writeTextFile(caFile, TEST_CA);
    const application = await startApplication({
      env: {
        ROLES: "gateway",
        EMBEDDED: "off",
        HOST: "127.0.0.1",
        API_SECRET_KEY: "a key of the benchmark, long enough to sign with",
        HCP_HOST: "127.0.0.1",
        HCP_PORT: String(mapiPort),
        S3_ENDPOINT_URL: s3,
        CA_FILE: caFile,
      },
      // The log is written as ever, but reading it would take its share of the machine from what is measured.
      within: ["sh", "-c", 'exec "$@" 2>/dev/null', "sh"],
    });
    stops.push(application.stop);
    const origin = application.site.replace(/\/$/, "");
    const bearer = `Bearer ${await login(origin)}`;
    return {
      direct: plain("direct", upstream, s3),
      floor: plain("floor", floor, floor.line),
      gateway: {
        name: "gateway",
        origin,
        pid: application.pid,
        headers: [["authorization", bearer]],
        object: (key) => `/api/v1/buckets/${BUCKET}/objects/${key}`,
        record: (path) => `/api/v1/mapi/tenants/${TENANT}/${path}`,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Logs in. */
export const loginRequest = {
  method: "POST",
  target: "/api/v1/auth/token",
  headers: [["content-type", "application/x-www-form-urlencoded"]] as const,
  body: new TextEncoder().encode(LOGIN),
};

/** The pages in which all users or namespaces are listed, so many at a time. */
export function pages(list: "userAccounts" | "namespaces", count: number): string[] {
  return Array.from({ length: RECORDS / count }, (_, n) => `${list}?offset=${n * count}&count=${count}`);
}

async function login(origin: string): Promise<string> {
  const connection = new HttpConnection(origin);
  const { method, target, headers, body } = loginRequest;
  const answer = await connection.request(method, target, headers, body);
  connection.close();
  return JSON.parse(new TextDecoder().decode(answer.body)).access_token;
}

function plain(name: "direct" | "floor", { pid }: ServerProcess, origin: string): AskedServer {
  return {
    name,
    origin,
    pid,
    headers: [["authorization", "AWS4-HMAC-SHA256 nobody looks at this"], ["accept-encoding", "identity"]],
    object: (key) => `/${BUCKET}/${key}`,
    record: (path) => `/mapi/tenants/${TENANT}/${path}`,
  };
}
