import { freePort } from "./free_port.ts";

/** Programs that serve Redis' protocol and scripts, the first of which is used. */
const PROGRAMS = ["redis-server", "valkey-server"];
/** Some systems have programs of servers in folders that are not in a user's path. */
const FURTHER_FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
const LOOPBACK = "127.0.0.1";
const POLL_MS = 5;
const START_TIMEOUT_MS = 90_000;

/** The path of the server's program; null where this machine has none, and tests that need one are ignored. */
export const REDIS_PROGRAM = findProgram();

export interface RedisServerOptions {
  /** Further arguments of the program, such as `--requirepass`. */
  readonly args?: readonly string[];
  /** A folder that outlives the server; without it, a temporary one is made. */
  readonly folder?: string;
  /** Listens for TLS instead, with this certificate and its key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A Redis or Valkey server of a test, on a free port of loopback, with a folder of its own. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  readonly #args: readonly string[];
  readonly #isTemporary: boolean;
  #process: Deno.ChildProcess | null = null;

  private constructor(port: number, folder: string, isTemporary: boolean, args: readonly string[]) {
    this.port = port;
    this.folder = folder;
    this.#isTemporary = isTemporary;
    this.#args = args;
  }

  static async start({ args = [], tls, folder: lasting }: RedisServerOptions = {}): Promise<RedisServer> {
    if (lasting !== undefined) await Deno.mkdir(lasting, { recursive: true });
    const folder = lasting ?? await Deno.makeTempDir({ prefix: "stackroom-redis-" });
    const port = freePort();
    const listening = tls ? ["--port", "0", "--tls-port", `${port}`] : ["--port", `${port}`];
    if (tls) {
      await Deno.writeTextFile(`${folder}/cert.pem`, tls.cert);
      await Deno.writeTextFile(`${folder}/key.pem`, tls.key);
      listening.push("--tls-cert-file", `${folder}/cert.pem`, "--tls-key-file", `${folder}/key.pem`);
      listening.push("--tls-auth-clients", "no");
    }
    // Everything is appended to a file before the response, so that it is there again after a kill: while the file is being
    // flushed, as by default each second, Redis may append later.
    const stored = ["--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "no"];
    const server = new RedisServer(port, folder, lasting === undefined, [
      ...listening,
      "--bind",
      LOOPBACK,
      ...stored,
      ...args,
    ]);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://${LOOPBACK}:${this.port}`;
  }

  /** Starts it again after {@linkcode kill}, on the same port with the same data. */
  async start(): Promise<void> {
    const process = new Deno.Command(REDIS_PROGRAM!, { args: [...this.#args], stdout: "null", stderr: "null" }).spawn();
    this.#process = process;
    let status: Deno.CommandStatus | null = null;
    process.status.then((ended) => status = ended);
    for (const end = Date.now() + START_TIMEOUT_MS; !(await isListening(this.port));) {
      if (status || Date.now() > end) throw new Error(`${REDIS_PROGRAM} does not listen on port ${this.port}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Stops it from replying; connections stay. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends it at once; its data stays. */
  async kill(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    if (!process) return;
    try {
      process.kill("SIGKILL");
    } catch (error) {
      // It has ended already, as after a SHUTDOWN.
      if (!(error instanceof TypeError)) throw error;
    }
    await process.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    if (this.#isTemporary) await Deno.remove(this.folder, { recursive: true });
  }
}

function findProgram(): string | null {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":"), ...FURTHER_FOLDERS].filter((folder) => folder !== "");
  const paths = PROGRAMS.flatMap((program) => folders.map((folder) => `${folder}/${program}`));
  return paths.find(isFile) ?? null;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function isListening(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: LOOPBACK, port })).close();
    return true;
  } catch {
    return false;
  }
}
