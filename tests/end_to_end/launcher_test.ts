import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { untilHolds } from "@/tests/until.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** After this a test fails. */
const RELEASE_MS = 30_000;
const SITE = /^Site\s+(\S+)$/m;

/** A command of an operator in a process of its own, and everything that it says. */
class Command {
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<Deno.CommandStatus>;
  #output = "";
  #look = () => {};

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: ROOT,
      env: { NO_COLOR: "1", PORT: "0", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const { status, stdout, stderr } = this.#child;
    this.#ended = Promise.all([status, this.#collect(stdout), this.#collect(stderr)]).then(([ended]) => {
      this.#look();
      return ended;
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get output(): string {
    return this.#output;
  }

  /**
   * No process that it started writes any more when this resolves: the pipes have no other end. One of them may still be
   * ending: the kernel closes its files one after the other, and the lock of the data folder may come last.
   */
  get ended(): Promise<Deno.CommandStatus> {
    return this.#ended;
  }

  /** The site's address, once it is said. */
  async site(): Promise<string> {
    let over = false;
    this.#ended.then(() => over = true);
    while (!SITE.test(this.#output)) {
      if (over) throw new Error(this.#output);
      await new Promise<void>((resolve) => this.#look = resolve);
    }
    return SITE.exec(this.#output)?.[1] ?? "";
  }

  async #collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#output += text;
      this.#look();
    }
  }
}

const launcher = (env: Readonly<Record<string, string>>) =>
  new Command(["run", "--no-prompt", "--allow-run", "launch.ts"], env);

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await use(folder);
}

Deno.test("launcher: the task that was started says what is open to others, ends well at SIGTERM and leaves nothing behind", () =>
  withFolder(async (folder) => {
    await Deno.chmod(folder, 0o755);
    const task = new Command(["task", "start"], { ...STORAGE_ONLY, DATA_DIR: folder });
    const site = await task.site();
    assert.equal((await (await fetch(`${site}healthz`)).json()).ok, true);
    assert.match(task.output, new RegExp(`^The data folder ${folder} is open to other users .*$`, "m"));
    Deno.kill(task.pid, "SIGTERM");
    assert.equal((await task.ended).code, 0);
    await assert.rejects(fetch(`${site}healthz`));
  }));

Deno.test("launcher: Ctrl-C and a closed terminal reach the server, and its exit code comes back", async () => {
  for (const signal of ["SIGINT", "SIGHUP"] as const) {
    await withFolder(async (folder) => {
      const launched = launcher({ ...STORAGE_ONLY, DATA_DIR: folder, MALLOC_ARENA_MAX: "7" });
      await launched.site();
      const malloc = mallocVariables(launched.pid);
      Deno.kill(launched.pid, signal);
      assert.equal((await launched.ended).code, 0, signal);
      // The server gives freed memory back by glibc's variables; those that are set stay.
      assert.match(
        malloc.join(" "),
        /^MALLOC_ARENA_MAX=7 MALLOC_MMAP_THRESHOLD_=\d+ MALLOC_TRIM_THRESHOLD_=\d+$/,
      );
    });
  }
});

function mallocVariables(launcher: number): string[] {
  const children = Deno.readTextFileSync(`/proc/${launcher}/task/${launcher}/children`).trim().split(" ");
  const env = children.map((pid) => Deno.readTextFileSync(`/proc/${pid}/environ`)).join("").split("\0");
  return env.filter((line) => line.startsWith("MALLOC_")).sort();
}

const STARTS: Readonly<Record<string, (env: Readonly<Record<string, string>>) => Command>> = {
  "whose launcher": launcher,
  "in development whose task": (env) => new Command(["task", "dev"], env),
};

for (const [whose, start] of Object.entries(STARTS)) {
  Deno.test(`launcher: a server ${whose} was killed stops by itself, and frees the data folder`, () =>
    withFolder(async (folder) => {
      const started = start({ ...STORAGE_ONLY, DATA_DIR: folder });
      const site = await started.site();
      Deno.kill(started.pid, "SIGKILL");
      await started.ended;
      await assert.rejects(fetch(`${site}healthz`));
      (await DataFolder.openOnRelease(folder, RELEASE_MS)).close();
    }));
}

Deno.test("launcher: settings that end the start do so in one line, before anything runs", () =>
  withFolder(async (folder) => {
    for (
      const [env, line] of [
        [{ PORT: "many" }, /^PORT: [^\n]+\n$/],
        [{ DATA_DIR: `${folder}/a,b` }, /^"[^"]+a,b" has a comma[^\n]+\n$/],
        [{ CA_FILE: folder }, /^CA_FILE: [^\n]+ cannot be read[^\n]+\n$/],
      ] as const
    ) {
      const launched = launcher({ DATA_DIR: folder, ...env });
      assert.equal((await launched.ended).code, 1);
      assert.match(launched.output, line);
    }
  }));

Deno.test("launcher: a data folder may have blanks in its name, be a link, and be missing with those above it", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/real folder`);
    await Deno.symlink(`${folder}/real folder`, `${folder}/a link`);
    const dataFolder = `${folder}/a link/not/there yet`;
    const application = await startApplication({ dataFolder, env: STORAGE_ONLY });
    const { checks } = await (await fetch(`${application.site}readyz`)).json();
    await application.stop();
    assert.equal(checks.hcp, "reachable", application.output());
  }));

const TRIES = `
const tries = {
  "another file": () => Deno.readTextFileSync("/etc/hostname"),
  "a file beside the code": () => Deno.readTextFileSync("deno.lock"),
  "the project's folder": () => [...Deno.readDirSync(".")],
  "the code": () => Deno.writeTextFileSync("lib/written.ts", ""),
  "the built site": () => Deno.writeTextFileSync("static/build/manifest.json", ""),
  "beside the data folder": () => Deno.writeTextFileSync(Deno.env.get("DATA_DIR") + "/../beside", ""),
  "another host": () => Deno.connect({ hostname: "192.0.2.1", port: 80 }),
  "all interfaces": () => Deno.listen({ hostname: "0.0.0.0", port: 0 }),
  "the system": () => Deno.hostname(),
  "a program": () => new Deno.Command("true").outputSync(),
  "a library": () => Deno.dlopen("libc.so.6", {}),
};
for (const [name, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    console.error("allowed: " + name);
  } catch (error) {
    if (error.name !== "NotCapable") console.error(name + ": " + error);
  }
}
console.error("variables: " + Object.keys(Deno.env.toObject()).filter((name) => /SECRET|ROLES/.test(name)));
Deno.exit(3);
`;

Deno.test("launcher: the server may read and write what its settings name, and nothing else", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/tries.ts`, TRIES);
    const env = { AWS_SECRET_ACCESS_KEY: "not ours", ROLES: "gateway,web,results" };
    await assert.rejects(startApplication({ main: `${folder}/tries.ts`, env }), (error: { output?: string }) => {
      assert.equal(error.output, "variables: ROLES\n");
      return true;
    });
  }));

const OWN_CLUSTER = { EMBEDDED: "store" };

/** A Kubernetes API server that wants this token, and allows no watch. */
function cluster(token: string, tls: { cert: string; key: string }): Deno.HttpServer<Deno.NetAddr> {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {}, ...tls };
  return Deno.serve(options, ({ url, headers }: Request) => {
    if (headers.get("authorization") !== `Bearer ${token}`) return new Response(null, { status: 401 });
    const { pathname, searchParams } = new URL(url);
    if (searchParams.has("watch")) return new Response(null, { status: 403 });
    if (pathname === "/version") return Response.json({ gitVersion: "v1" });
    return Response.json({ metadata: { resourceVersion: "1" }, items: [] });
  });
}

async function kubeconfig(folder: string, user: string, cluster: string): Promise<string> {
  const text = `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {${cluster}}}]
users: [{name: u, user: ${user}}]
`;
  await Deno.writeTextFile(`${folder}/kubeconfig`, text);
  return `${folder}/kubeconfig`;
}

Deno.test("launcher: a cluster behind TLS is reached by the authorities and the token of files, beside a kubeconfig of any name", () =>
  withFolder(async (folder) => {
    await using api = cluster("from-the-file", { cert: TEST_CERTIFICATE, key: TEST_KEY });
    await Deno.writeTextFile(`${folder}/ca.pem`, TEST_CA);
    await Deno.writeTextFile(`${folder}/token`, "from-the-file");
    const server = `server: "https://localhost:${api.addr.port}", certificate-authority: ca.pem`;
    const path = await kubeconfig(folder, `{token-file: ${folder}/token}`, server);
    const launched = launcher({ DATA_DIR: `${folder}/data`, ...OWN_CLUSTER, KUBECONFIG: path });
    await untilReachable(launched);
    assert.doesNotMatch(launched.output, /^KUBECONFIG/m);
  }));

async function untilReachable(launched: Command): Promise<void> {
  const site = await launched.site();
  await untilHolds(async () => {
    const { checks } = await (await fetch(`${site}readyz`)).json();
    assert.equal(checks.kubernetes, "reachable", launched.output);
  });
  Deno.kill(launched.pid, "SIGTERM");
  await launched.ended;
}

Deno.test("launcher: a kubeconfig with a plugin lets the server run that program, which the start says in one line", () =>
  withFolder(async (folder) => {
    await using api = cluster("from-the-plugin", { cert: TEST_CERTIFICATE, key: TEST_KEY });
    const plugin = `${folder}/plugin`;
    const credential = JSON.stringify({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: "from-the-plugin" },
    });
    await Deno.writeTextFile(plugin, `#!/bin/sh\necho '${credential}'\n`, { mode: 0o700 });
    const path = await kubeconfig(
      folder,
      `{exec: {apiVersion: client.authentication.k8s.io/v1, command: ${plugin}, env: [{name: A, value: b}]}}`,
      `server: "https://localhost:${api.addr.port}", insecure-skip-tls-verify: true`,
    );
    const launched = launcher({ DATA_DIR: `${folder}/data`, ...OWN_CLUSTER, KUBECONFIG: path });
    await untilReachable(launched);
    const lines = launched.output.split("\n").filter((line) => line.startsWith("KUBECONFIG"));
    assert.equal(lines.length, 1);
    assert.ok(lines[0].includes(JSON.stringify(plugin)), lines[0]);
  }));
