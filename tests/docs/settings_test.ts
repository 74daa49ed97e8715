import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { withUploadRule } from "@/lib/pages/uploads/upload_route_client.ts";
import { readConfig } from "@/lib/config/mod.ts";

const ROOT = new URL("../../", import.meta.url);
/** Null where this machine has none. */
const CADDY_PROGRAM = ["/usr/bin/caddy", "/usr/local/bin/caddy"].find((path) => existsSync(path)) ?? null;
const EVERY_FILE = { exists: () => true, read: () => null };
const SESSION_KEY = Buffer.alloc(32).toString("base64");

/** The blocks of a page in one language. */
function blocks(page: string, language: string): string[] {
  const text = Deno.readTextFileSync(new URL(page, ROOT));
  return [...text.matchAll(new RegExp("```" + language + "\\n([^]*?)```", "g"))].map(([, block]) => block);
}

/** The settings of the block that has this one. */
function settings(page: string, line: string): Record<string, string> {
  const block = blocks(page, "sh").find((block) => block.includes(line));
  assert.ok(block, `${page} has no block with ${line}`);
  return Object.fromEntries(
    block.trim().split("\n").map((line) =>
      line.replace(/\s+#.*$/, "").match(/^([A-Z0-9_]+)=(.*)$/)?.slice(1) ?? [line, ""]
    ),
  );
}

Deno.test("docs: the settings of one machine are accepted, and no warning is due", () => {
  const { embedded, server, warnings } = readConfig(
    settings("docs/one-machine.md", "EMBEDDED_SAMPLES=off"),
    EVERY_FILE,
  );
  assert.equal(embedded.administrators?.tenant?.name, "archive");
  assert.equal(embedded.publicEndpoint, "https://{tenant}.s3.example.org");
  assert.equal(server.publicOrigin, "https://store.example.org");
  assert.deepEqual(warnings, []);
});

Deno.test("docs: the settings of a host without a disk are accepted without a file", () => {
  const given = settings("docs/operations.md", "KUBECONFIG_CONTENT=");
  const secrets = {
    API_SECRET_KEY: "0123456789abcdef0123456789abcdef",
    RESULTS_SESSION_KEY: SESSION_KEY,
    KUBECONFIG_CONTENT: "{}",
    REDIS_URL: given.REDIS_URL.replace("…", "password"),
  };
  const noFile = { exists: () => false, read: () => null };
  const { roles, warnings } = readConfig({ EMBEDDED: "off", ...given, ...secrets }, noFile);
  assert.deepEqual([roles.size, warnings], [3, []]);
});

Deno.test("docs: the settings of each store are accepted", () => {
  const given = (line: string) => settings("docs/deployment.md", line);
  const gateway = (line: string) => ({
    EMBEDDED: "off",
    ROLES: "gateway",
    API_SECRET_KEY: "0".repeat(64),
    ...given(line),
  });
  const stores = ["HCP_DOMAIN=", "STORAGE_BACKEND=minio", "STORAGE_BACKEND=generic", "S3_REGION=", "S3_ACCESS_KEY="];
  for (const line of stores) {
    const { gateway: read, warnings } = readConfig({ HOST: "127.0.0.1", ...gateway(line) }, EVERY_FILE);
    assert.ok(read, line);
    assert.deepEqual(warnings, [], line);
  }
  const results = {
    ...gateway("STORAGE_BACKEND=generic"),
    ...given("RESULTS_KEY_DERIVATION="),
    ROLES: "gateway,results",
  };
  assert.equal(
    readConfig({ ...results, RESULTS_SESSION_KEY: SESSION_KEY }, EVERY_FILE).results?.store?.bucket,
    "results",
  );
});

Deno.test("docs: the settings of a campaign web front are taken over", () => {
  const given = settings("docs/deployment.md", "HTRFLOW_RESULTS_URL=");
  const { campaigns, results, warnings } = readConfig({ EMBEDDED: "off", ROLES: "web,results", ...given }, EVERY_FILE);
  assert.deepEqual([campaigns?.conventions.cookieStem, results?.store?.bucket], ["htr_session", "htr-batch"]);
  assert.deepEqual(warnings.filter((line) => !line.startsWith("HOST:")), []);
});

Deno.test("docs: the CORS rule is the one that the storage pages add", () => {
  const [rule] =
    JSON.parse(blocks("docs/deployment.md", "json").find((block) => block.includes("CORSRules"))!).CORSRules;
  const { ID: _, ...added } = withUploadRule([], "https://stackroom.example.org")![0];
  assert.deepEqual(rule, added);
});

Deno.test("docs: what a host installs, builds and starts is there", async () => {
  const { deploy, tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  assert.ok((await Deno.stat(new URL(deploy.runtime.entrypoint, ROOT))).isFile);
  assert.ok(Object.hasOwn(tasks, deploy.build.replace("deno task ", "")));
});

Deno.test("docs: the unit of the backup runs a script that is there, on the folders of the page", async () => {
  const unit = await Deno.readTextFile(new URL("deploy/stackroom-backup.service", ROOT));
  const [, script, target] = /^ExecStart=\/opt\/stackroom\/(\S+) (\S+) \d+$/m.exec(unit) ?? [];
  assert.ok(((await Deno.stat(new URL(script, ROOT))).mode ?? 0) & 0o100, "it can be executed");
  const page = await Deno.readTextFile(new URL("docs/one-machine.md", ROOT));
  assert.ok(page.includes(` ${target} `) && unit.includes(`RequiresMountsFor=${target}\n`));
  const folder = settings("docs/one-machine.md", "EMBEDDED_SAMPLES=off").DATA_DIR;
  assert.ok(unit.includes(`DATA_DIR=${folder}\n`) && unit.includes(`ReadWritePaths=${folder} `));
});

Deno.test("docs: Caddy reads the blocks of one machine", { ignore: CADDY_PROGRAM === null }, async () => {
  const path = await Deno.makeTempFile({ suffix: ".Caddyfile" });
  await Deno.writeTextFile(path, blocks("docs/one-machine.md", "caddyfile").join("\n"));
  const args = ["adapt", "--config", path, "--adapter", "caddyfile"];
  const { success, stdout, stderr } = await new Deno.Command(CADDY_PROGRAM!, { args }).output();
  await Deno.remove(path);
  assert.ok(success, new TextDecoder().decode(stderr));
  const adapted = new TextDecoder().decode(stdout);
  for (const host of ["store", "archive.s3", "admin.mapi", "archive.mapi"]) {
    assert.ok(adapted.includes(`"${host}.example.org"`), host);
  }
});
