import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type Config, type Files, readConfig } from "@/lib/config/mod.ts";
import { NO_DISK, refusalLines } from "./settings.ts";

const KEY = Buffer.alloc(32, 1);
const OTHER_KEY = Buffer.alloc(32, 2);
const BOTH_KEYS = `${KEY.toString("base64")} ${OTHER_KEY.toString("base64")}`;
const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
/** Every file is there, and is a certificate. */
const DISK: Files = { exists: () => true, read: () => PEM };

/** All roles with a store and a cluster elsewhere, and no file. */
const VALUES = {
  EMBEDDED: "off",
  TRUSTED_HOPS: "1",
  API_SECRET_KEY: "0123456789abcdef0123456789abcdef",
  STORAGE_BACKEND: "generic",
  S3_ENDPOINT_URL: "https://s3.example.org",
  S3_ACCESS_KEY: "a",
  S3_SECRET_KEY: "s",
  GATEWAY_USERS: "anna:hash\nolle:hash",
  CA_CERTIFICATES: PEM,
  CAMPAIGN_RESULTS_URL: "https://c.example.org/results",
  KUBECONFIG_CONTENT: "current-context: c\n",
  RESULTS_S3_ENDPOINT: "https://s3.example.org",
  RESULTS_S3_BUCKET: "results",
  RESULTS_SESSION_KEY: BOTH_KEYS,
};

/** What the settings give beside numbers and words: users, authorities, cluster, session keys. */
const texts = ({ gateway, ca, web, results }: Config) => ({
  users: gateway?.store?.identity.kind === "shared" ? gateway.store.identity.users : null,
  ca,
  cluster: web?.kubeconfig,
  sessions: [web?.storage?.sessionKey, results?.sessionKey],
});

Deno.test("values for files: all roles start without a file, and take the texts from the settings", () => {
  const config = readConfig(VALUES, NO_DISK);
  const keys = { text: BOTH_KEYS };
  assert.deepEqual(texts(config), {
    users: { text: "anna:hash\nolle:hash" },
    ca: { text: PEM },
    cluster: { text: "current-context: c" },
    sessions: [keys, keys],
  });
  assert.deepEqual(config.warnings, []);
});

Deno.test("values for files: a file and a value for the same thing end the start, with a line for each", () => {
  const files = { GATEWAY_USERS_FILE: "/u", CA_FILE: "/c", KUBECONFIG: "/k", RESULTS_SESSION_KEY_FILE: "/s" };
  const lines = [
    "CA_CERTIFICATES: contradicts CA_FILE: unset one of the two",
    "GATEWAY_USERS: contradicts GATEWAY_USERS_FILE: unset one of the two",
    "KUBECONFIG_CONTENT: contradicts KUBECONFIG: unset one of the two",
    "RESULTS_SESSION_KEY: contradicts RESULTS_SESSION_KEY_FILE: unset one of the two",
  ];
  assert.deepEqual(refusalLines({ ...VALUES, ...files }, DISK), lines);
  const web = { EMBEDDED: "off", ROLES: "web", CAMPAIGN_WEB_SITE_ONLY: "1", GATEWAY_URL: "https://g.example.org" };
  const keys = { RESULTS_SESSION_KEY: BOTH_KEYS, HTRFLOW_SESSION_KEY_FILE: "/s" };
  assert.deepEqual(refusalLines({ ...web, ...keys }, DISK), [
    "RESULTS_SESSION_KEY: contradicts HTRFLOW_SESSION_KEY_FILE: unset one of the two",
  ]);
});

Deno.test("values for files: an unusable value is named by its variable and not repeated", () => {
  const bad = { RESULTS_SESSION_KEY: "c2VjcmV0", CA_CERTIFICATES: "c2VjcmV0" };
  assert.deepEqual(refusalLines({ ...VALUES, ...bad }, NO_DISK), [
    "CA_CERTIFICATES: must be certificates in PEM",
    "RESULTS_SESSION_KEY: must be one or two keys, each the base64 of 32 bytes",
  ]);
  const { S3_ACCESS_KEY: _access, S3_SECRET_KEY: _secret, ...ownKeys } = VALUES;
  assert.match(refusalLines(ownKeys, NO_DISK).join(), /^GATEWAY_USERS: guards configured keys: set S3_ACCESS_KEY/);
  assert.match(
    refusalLines({ ...VALUES, S3_SHARED_WITHOUT_LOGIN: "true" }, NO_DISK).join(),
    /^S3_SHARED_WITHOUT_LOGIN: contradicts GATEWAY_USERS: unset one of the two$/,
  );
});

Deno.test("values for files: an embedded store takes a session key too, and an embedded cluster no kubeconfig", () => {
  const { RESULTS_SESSION_KEY, KUBECONFIG_CONTENT } = VALUES;
  const config = readConfig({ RESULTS_SESSION_KEY, KUBECONFIG_CONTENT }, NO_DISK);
  assert.deepEqual(config.results?.sessionKey, { text: BOTH_KEYS });
  assert.equal(config.web?.kubeconfig, null);
  assert.match(config.warnings.join(), /^KUBECONFIG_CONTENT: ignored, the embedded cluster is on/);
});
