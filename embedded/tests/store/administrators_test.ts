import { ListBucketsCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { type Administrators, SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { printedErrors } from "@/tests/printed_errors.ts";
import { callMapi } from "./mapi_fixture.ts";
import { startStore, type Store, storeErrorCode } from "./store_fixture.ts";

const PASSWORD = "correct horse 7";
const TENANT_PASSWORD = "battery staple 8";

interface Folder extends Disposable {
  readonly data: string;
  /** The path of a file with this text. */
  file(name: string, text: string, mode?: number): string;
}

function newFolder(): Folder {
  const path = Deno.makeTempDirSync();
  Deno.mkdirSync(`${path}/data`);
  return {
    data: `${path}/data`,
    file(name, text, mode = 0o600) {
      Deno.writeTextFileSync(`${path}/${name}`, text);
      Deno.chmodSync(`${path}/${name}`, mode);
      return `${path}/${name}`;
    },
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

function administrators(system: string | null, tenant: string | null = null, isPublic = false): Administrators {
  return {
    system: { variable: "EMBEDDED_ADMIN_PASSWORD_FILE", path: system },
    tenant: tenant === null
      ? null
      : { name: "archive", password: { variable: "EMBEDDED_TENANT_PASSWORD_FILE", path: tenant } },
    isPublic,
  };
}

const start = (folder: Folder, accounts: Administrators) =>
  startStore(folder.data, { accounts: { administrators: accounts } });

async function statusOf(store: Store, tenant: string | null, user: string, password: string): Promise<number> {
  const path = tenant === null ? "/tenants" : `/tenants/${tenant}/userAccounts`;
  return (await callMapi(store, tenant, [user, password], "GET", path)).status;
}

/** The response to a request with a Host that is no name of the machine. */
async function ofForeignHost(store: Store): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(store.s3("archive")).port) });
  const head = "GET / HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n";
  await connection.write(new TextEncoder().encode(head));
  return await new Response(connection.readable).text();
}

/** What is written to standard error meanwhile. */
async function warnings(work: () => Promise<unknown>): Promise<readonly string[]> {
  using printed = printedErrors();
  await work();
  return printed.lines;
}

function rejects(work: () => Promise<Store>, message: RegExp): Promise<void> {
  return assert.rejects(async () => await (await work()).stop(), (error) => {
    assert.ok(error instanceof DataFolderError, String(error));
    assert.match(error.message, message);
    assert.ok(!error.message.includes("\n"));
    return true;
  });
}

Deno.test("administrators: the first start creates them with the passwords of their files, and nothing else", async () => {
  using folder = newFolder();
  const files = [folder.file("admin", `${PASSWORD}\n`), folder.file("archive", TENANT_PASSWORD)] as const;
  const first = await start(folder, administrators(...files, true));
  assert.equal(await statusOf(first, null, "admin", PASSWORD), 200);
  assert.equal(await statusOf(first, "archive", "admin", TENANT_PASSWORD), 200);
  assert.equal(await statusOf(first, null, "admin", SAMPLE_PASSWORD), 403);
  assert.equal(first.mapi("research"), "", "no sample tenant");
  assert.match(await ofForeignHost(first), /^HTTP\/1.1 403 /, "the host names of a proxy are its own matter");
  const s3 = first.client("archive", "admin", TENANT_PASSWORD);
  assert.deepEqual((await s3.send(new ListBucketsCommand({}))).Buckets ?? [], []);
  const sample = first.client("archive", "curator");
  assert.equal(await storeErrorCode(sample.send(new ListBucketsCommand({}))), "SignatureDoesNotMatch");
  for (const client of [s3, sample]) client.destroy();
  await first.stop();

  const later = await start(folder, administrators(null, null, true));
  assert.equal(await statusOf(later, null, "admin", PASSWORD), 200, "the files are not needed again");
  await later.stop();
  await rejects(
    () => startStore(folder.data),
    /^EMBEDDED_SAMPLES: .* in use without samples: set EMBEDDED_SAMPLES=off/,
  );
});

Deno.test("administrators: a missing, short, long or public password ends the start, and creates nothing", async () => {
  using folder = newFolder();
  const variable = "EMBEDDED_ADMIN_PASSWORD_FILE";
  const fails = (path: string | null, words: string) =>
    rejects(() => start(folder, administrators(path)), new RegExp(`^${variable}: .*${words}.*12 to 64 characters`));
  await fails(null, "is required for the first start");
  await fails("/none/there", "there is no file");
  await fails(folder.data, "cannot read");
  await fails(folder.file("short", "elevenchars\nand more on the next line"), "has 11 characters");
  await fails(folder.file("long", "x".repeat(65)), "has 65 characters");
  await fails(folder.file("public", SAMPLE_PASSWORD), "public password");
  await rejects(
    () => start(folder, administrators(folder.file("good", PASSWORD), "/none")),
    /^EMBEDDED_TENANT_PASSWORD_FILE: there is no file "\/none"/,
  );
  const store = await start(folder, administrators(null, folder.file("archive", TENANT_PASSWORD)));
  assert.equal(await statusOf(store, null, "admin", PASSWORD), 200, "the start after an interrupted one goes on");
  await store.stop();
});

Deno.test("administrators: without samples no account gets their public password, which would end the next public start", async () => {
  using folder = newFolder();
  const files = [folder.file("admin", PASSWORD), folder.file("archive", TENANT_PASSWORD)] as const;
  const store = await start(folder, administrators(...files, true));
  const statusOfCall = async (method: string, path: string, body: unknown) => {
    const { status, text } = await callMapi(store, null, ["admin", PASSWORD], method, `/tenants${path}`, body);
    return [status, text.includes("public one of the samples")];
  };
  const changed = (newPassword: string) =>
    statusOfCall("POST", "/archive/userAccounts/admin/changePassword", { newPassword });
  const created = (password: string) =>
    statusOfCall("PUT", `/archive/userAccounts?password=${encodeURIComponent(password)}`, {
      ...{ username: "reader", fullName: "Reader" },
      ...{ localAuthentication: true, enabled: true, forcePasswordChange: false },
    });
  const tenant = (password: string) =>
    statusOfCall("PUT", `?username=admin&password=${encodeURIComponent(password)}`, { name: "research" });
  for (const call of [changed, created, tenant]) assert.deepEqual(await call(SAMPLE_PASSWORD), [400, true]);
  assert.deepEqual(await changed(PASSWORD), [200, false]);
  await store.stop();
});

Deno.test("administrators: a file that every user can read is a warning", async () => {
  using folder = newFolder();
  const path = folder.file("admin", PASSWORD, 0o644);
  const lines = await warnings(async () => await (await start(folder, administrators(path))).stop());
  assert.deepEqual(lines, [
    `EMBEDDED_ADMIN_PASSWORD_FILE: every user of this machine can read ${path}: run chmod 600 ${path}`,
  ]);
});

Deno.test("administrators: a folder with samples is accepted once no account has the public password", async () => {
  using folder = newFolder();
  await (await startStore(folder.data)).stop();
  const accounts = (isPublic: boolean) => administrators(folder.file("admin", PASSWORD), null, isPublic);
  const exposed = "archive/curator, archive/reader, research/researcher";
  await rejects(
    () => start(folder, accounts(true)),
    new RegExp(`^EMBEDDED_SAMPLES: accounts still have the public password of the samples \\(${exposed}\\): change`),
  );
  const samples = await startStore(folder.data);
  assert.equal(await statusOf(samples, null, "admin", SAMPLE_PASSWORD), 200, "a start that ends so changes nothing");
  await samples.stop();
  let store: Store | undefined;
  const lines = await warnings(async () => store = await start(folder, accounts(false)));
  assert.ok(store);
  assert.deepEqual([lines.length, lines[0].includes(`(${exposed})`)], [1, true]);
  assert.match(await ofForeignHost(store), /^HTTP\/1.1 421 /, "no page elsewhere reaches the public passwords");
  assert.equal(
    await statusOf(store, null, "admin", PASSWORD),
    200,
    "the system's administrator has the one of the file",
  );
  for (const [tenant, user] of exposed.split(", ").map((login) => login.split("/"))) {
    const path = `/tenants/${tenant}/userAccounts/${user}/changePassword`;
    const newPassword = { newPassword: TENANT_PASSWORD };
    assert.equal((await callMapi(store, null, ["admin", PASSWORD], "POST", path, newPassword)).status, 200);
  }
  await store.stop();
  assert.deepEqual(await warnings(async () => await (await start(folder, accounts(true))).stop()), []);
});
