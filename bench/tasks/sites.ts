import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { embeddedServer, type S3Server } from "@/bench/wire/s3_wire.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startApplication } from "@/tests/application.ts";

/** The application with its embedded store, and the token of the sample administrator. */
export interface Site {
  readonly origin: string;
  readonly pid: number;
  /** The embedded store itself. */
  readonly store: S3Server;
  readonly headers: readonly (readonly [string, string])[];
  /** Sends JSON and reads the JSON of a successful response. Throws for any other one. */
  call(method: string, target: string, body?: unknown): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** The bucket of all measures: a sample one, without versions. */
export const BUCKET = "letters";

/** The path of its objects below the API. */
export const OBJECTS = `/api/v1/buckets/${BUCKET}/objects`;

/** Starts the application over a folder that stays. Its log is written, and discarded. */
export async function startSite(dataFolder: string, env: Readonly<Record<string, string>> = {}): Promise<Site> {
  const application = await startApplication({
    dataFolder,
    // The sample campaigns of the embedded cluster would write results meanwhile.
    env: { EMBEDDED: "store", ROLES: "gateway", ...env },
    within: ["sh", "-c", 'exec "$@" 2>/dev/null', "sh"],
  });
  const origin = application.site.replace(/\/$/, "");
  const headers = [["authorization", `Bearer ${await login(origin)}`]] as const;
  const connection = new HttpConnection(origin);
  return {
    origin,
    pid: application.pid,
    store: embeddedServer(dataFolder),
    headers,
    async call(method, target, body) {
      const sent = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
      const json = [["content-type", "application/json"], ["accept", "application/json"]] as const;
      const answer = await connection.request(method, target, [...headers, ...json], sent);
      const text = new TextDecoder().decode(answer.body);
      if (answer.status >= 300) throw new Error(`${method} ${target} was answered with ${answer.status}: ${text}`);
      return JSON.parse(text);
    },
    async stop() {
      connection.close();
      await application.stop();
    },
  };
}

async function login(origin: string): Promise<string> {
  const form = new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD });
  const connection = new HttpConnection(origin);
  const answer = await connection.request(
    "POST",
    "/api/v1/auth/token",
    [["content-type", "application/x-www-form-urlencoded"]],
    new TextEncoder().encode(form.toString()),
  );
  connection.close();
  return JSON.parse(new TextDecoder().decode(answer.body)).access_token;
}
