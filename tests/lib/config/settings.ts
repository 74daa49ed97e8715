import assert from "node:assert/strict";
import { type Config, ConfigError, type Files, readConfig } from "@/lib/config/mod.ts";
import { type About, about, environment } from "@/lib/config/variables.ts";

export const KEY = "0123456789abcdef0123456789abcdef";
/** What deployments mount: a session key, and a pod's token. */
const MOUNTED = ["/secrets/session/key", "/var/run/secrets/kubernetes.io/serviceaccount/token"];
export const NO_DISK: Files = { exists: () => false, read: () => null };
const emptyDisk: Files = { exists: (path) => MOUNTED.includes(path), read: () => null };

export function read(env: Record<string, string | undefined>, files: Partial<Files> = {}): Config {
  return readConfig(env, { ...emptyDisk, ...files });
}

/** The lines with which the start ends. */
export function refusalLines(env: Record<string, string>, files: Files = emptyDisk): string[] {
  try {
    readConfig(env, files);
  } catch (error) {
    assert(error instanceof ConfigError, String(error));
    return error.message.split("\n");
  }
  assert.fail(`${JSON.stringify(env)} was accepted`);
}

/** Expects the start to end with one line about this variable. */
export function refused(
  env: Record<string, string>,
  variable: string,
  words: RegExp,
  files: Partial<Files> = {},
): string {
  const [line, ...others] = refusalLines(env, { ...emptyDisk, ...files });
  assert.deepEqual(others, []);
  assert(line.startsWith(`${variable}: `), line);
  assert.match(line, words);
  return line;
}

/** What is known of the variable that holds a setting, or the text of a file that it names; undefined: no setting. */
export function factsOf(name: string): About | undefined {
  const facts = Object.entries(environment.shape).map(([own, schema]) => ({ own, ...about.get(schema)! }));
  return facts.find(({ own, content }) => own === name || content === name);
}

export const REAL_STORE = {
  EMBEDDED: "off",
  ROLES: "gateway",
  API_SECRET_KEY: KEY,
  HCP_DOMAIN: "store.example.org",
  TRUSTED_HOPS: "1",
};
export const GENERIC = {
  EMBEDDED: "off",
  ROLES: "gateway",
  API_SECRET_KEY: KEY,
  STORAGE_BACKEND: "generic",
  S3_ENDPOINT_URL: "https://s3.example.org",
  TRUSTED_HOPS: "1",
};
export const WEB = {
  EMBEDDED: "off",
  ROLES: "web",
  CAMPAIGN_RESULTS_URL: "https://c.example.org/results",
  CAMPAIGN_RESULTS_PROXY: "http://results:8082/results",
};
export const RESULTS = {
  EMBEDDED: "off",
  ROLES: "results",
  RESULTS_S3_ENDPOINT: "https://archive.store.example.org",
  RESULTS_S3_BUCKET: "campaigns",
};
