/**
 * Lets schemathesis send requests that the schemas of `/openapi.json` allow, and some that they forbid, to a fresh
 * application. It calls as an administrator of a tenant created for it, so that nothing else changes. The administrator
 * lacks the role SECURITY: `resetPasswords` changes the passwords of all accounts with it. `schemathesis_hooks.py`
 * excludes the account itself from changes. `schemathesis.toml` switches off the checks that do not support keys with
 * slashes, as docs/api.md says.
 */
import { fileURLToPath } from "node:url";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { type Application, startApplication } from "@/tests/application.ts";
import { numberOf, toolArguments } from "./arguments.ts";
import { inTemporaryFolder, pythonTool, run } from "./temporary_tool.ts";

/** The folder of the hooks and of the settings of schemathesis. */
const TOOLS = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
const SCHEMATHESIS = "schemathesis==4.32.5";
const DEFAULT_EXAMPLES = 30;
const TENANT = "trial";
const ACCOUNT = "examiner";
const PASSWORD = "examiner-47";

const { words } = toolArguments("deno run --config deno.test.json -A tools/try_schema.ts [EXAMPLES]", { words: 1 });
const examples = String(numberOf("EXAMPLES", words[0], DEFAULT_EXAMPLES));
await inTemporaryFolder("schema", async (folder) => {
  const schemathesis = await pythonTool("schemathesis", SCHEMATHESIS, folder);
  const application = await startApplication();
  try {
    await examine(folder, schemathesis, application, examples);
  } finally {
    await application.stop();
  }
});

async function examine(folder: string, schemathesis: string, { site }: Application, examples: string): Promise<void> {
  const token = await trialAccount(site);
  const cookie = await sessionCookie(site);
  const config = `${folder}/schemathesis.toml`;
  await Deno.writeTextFile(
    config,
    `hooks = "schemathesis_hooks"\n[auth.openapi.SessionCookie]\napi_key = "${cookie}"\n`,
  );
  const report = ["--continue-on-failure", "--warnings", "off", "--max-examples", examples];
  await run(schemathesis, [
    "--config-file",
    `${TOOLS}/schemathesis.toml`,
    "run",
    await trialDocument(folder, site),
    "--url",
    site,
    "--header",
    `Authorization: Bearer ${token}`,
    ...report,
  ], {
    cwd: folder,
    env: {
      PYTHONPATH: TOOLS,
      PYTHONDONTWRITEBYTECODE: "1",
      TRIAL_TENANT: TENANT,
      TRIAL_ACCOUNT: ACCOUNT,
      TRIAL_SESSION: cookie,
      TRIAL_ORIGIN: site.replace(/\/$/, ""),
    },
  });
}

/** The document, its examples of a tenant being the one that is tried: otherwise most requests would only be rejected for their tenant. */
async function trialDocument(folder: string, site: string): Promise<string> {
  const path = `${folder}/openapi.json`;
  const text = await (await fetch(`${site}openapi.json`)).text();
  await Deno.writeTextFile(path, text.replaceAll(/"examples":\["(?:archive|museum)"\]/g, `"examples":["${TENANT}"]`));
  return path;
}

/** Creates the tenant, its administrator and some of what the examples name. @returns the administrator's token */
async function trialAccount(site: string): Promise<string> {
  const system = caller(site, await login(site, "admin", SAMPLE_PASSWORD));
  await system("PUT", `mapi/tenants?username=founder&password=${PASSWORD}`, { name: TENANT, hardQuota: "50 GB" });
  const founder = caller(site, await login(site, `${TENANT}/founder`, PASSWORD));
  await founder("PUT", `mapi/tenants/${TENANT}/userAccounts?password=${PASSWORD}`, {
    username: ACCOUNT,
    fullName: "Examiner",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: ["ADMINISTRATOR", "MONITOR", "COMPLIANCE"] },
  });
  const token = await login(site, `${TENANT}/${ACCOUNT}`, PASSWORD);
  const examiner = caller(site, token);
  await examiner("POST", "buckets", { bucket: "notes" });
  await examiner("POST", "buckets", { bucket: "letters" });
  await examiner("PUT", "buckets/notes/objects/2026%2Ffirst%20page.txt", "Text");
  await examiner("PUT", `mapi/tenants/${TENANT}/groupAccounts`, { groupname: "editors" });
  return token;
}

type Call = (method: string, path: string, body: unknown) => Promise<void>;

function caller(site: string, token: string): Call {
  return async function call(method, path, body) {
    const response = await fetch(`${site}api/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  };
}

async function login(site: string, username: string, password: string): Promise<string> {
  const body = new URLSearchParams({ username, password });
  const response = await fetch(`${site}api/v1/auth/token`, { method: "POST", body });
  return (await response.json()).access_token;
}

/** The value of the session cookie of a sample user, for the operations of the read API. */
async function sessionCookie(site: string): Promise<string> {
  const response = await fetch(`${site}results/_login`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: site.replace(/\/$/, "") },
    body: JSON.stringify({ username: "reader", password: SAMPLE_PASSWORD }),
  });
  await response.body?.cancel();
  const value = /=([^;]+)/.exec(response.headers.get("Set-Cookie") ?? "")?.[1];
  if (value === undefined) throw new Error(`POST /results/_login: ${response.status}, and no cookie`);
  return value;
}
