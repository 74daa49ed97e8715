/**
 * Starts the server with the permissions that its settings ask for, and no others: a task's flags cannot know them. With
 * `--build` it builds the site instead, which needs the right to run the bundler of this platform. This process handles
 * no request and loads no package; it lives as long as the server does, since a process of this runtime cannot become
 * another one.
 */
import { fileURLToPath } from "node:url";
import { unsupportedDeno } from "@/lib/process/deno.ts";
import { parentGone } from "@/lib/process/stop.ts";
import { builder, buildFolder } from "@/lib/site/site.ts";

/** Signals that end the server, or a part of it that listens for them. */
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

const unsupported = unsupportedDeno(Deno.version.deno);
if (unsupported !== null) {
  console.error(unsupported);
  Deno.exit(1);
}

const path = (module: string) => fileURLToPath(new URL(module, import.meta.url));

const runtime = ["run", "--no-prompt", "--allow-env", "--allow-read"];

if (Deno.args[0] === "--build") {
  const rights = [`--allow-write=${buildFolder()}`, `--allow-run=${builder()}`];
  const built = await new Deno.Command(Deno.execPath(), {
    args: [...runtime, ...rights, path("./lib/site/build.ts"), ...Deno.args.slice(1)],
    stdin: "null",
  }).spawn().status;
  Deno.exit(built.code);
}

// A shell may end before what it has started; a task may not, and the server that it leaves behind would go unnoticed.
const taskGone = Deno.args.includes("--of-task") ? parentGone() : new Promise<void>(() => {});

// The settings are read in a process of their own: the memory of that is released at its end.
const planned = await new Deno.Command(Deno.execPath(), {
  args: [...runtime, path("./compose/server_command.ts"), ...Deno.args],
  stdin: "null",
  stderr: "inherit",
}).output();
if (!planned.success) Deno.exit(planned.code);

const { args, env } = JSON.parse(new TextDecoder().decode(planned.stdout));
const server = new Deno.Command(Deno.execPath(), {
  args: [...args, "--launched"],
  // The runtime's own spans show whole addresses: keys, queries and signatures. Those of lib/operations/tracing.ts do not.
  env: { ...env, OTEL_DENO_TRACING: "false" },
  // Nothing is ever written here: the stream ends with this process, which the server notices.
  stdin: "piped",
  stdout: "inherit",
  stderr: "inherit",
}).spawn();
let isSignalled = false;
const forward = (signal: Deno.Signal) => {
  isSignalled = true;
  try {
    server.kill(signal);
  } catch {
    // It has ended already.
  }
};
for (const signal of SIGNALS) Deno.addSignalListener(signal, () => forward(signal));
// A server that is stopping already would take a second signal for one that does not want to wait.
taskGone.then(() => isSignalled || forward("SIGTERM"));
const { code } = await server.status;
Deno.exit(code);
