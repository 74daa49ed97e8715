import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { readBuildContext } from "./build_context.ts";
import { assignments, type Dockerfile, filledIn, type Instruction, type Stage } from "./dockerfile.ts";
import { MissingTool, onPath, run } from "@/tools/temporary_tool.ts";

/** The root folder of an image that was built, and what its last stage says about containers. */
export interface BuiltImage {
  readonly root: string;
  readonly env: ReadonlyMap<string, string>;
  readonly workingFolder: string;
  /** `uid:gid` */
  readonly user: string;
  readonly entrypoint: readonly string[];
}

interface BuildOptions {
  /** The project's folder. */
  readonly project: string;
  /** An empty folder for the stages. */
  readonly folder: string;
  /** A folder for the Debian systems that images are based on. */
  readonly cache: string;
  readonly arch: "amd64" | "arm64";
}

/** Variables by which programs find this machine's registry and authorities. */
const SURROUNDINGS = [
  "NPM_CONFIG_REGISTRY",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
];
const AUTHORITIES = "/etc/ssl/certs";
/** Names of Debian's releases, by the number before the point of its version. */
const RELEASES = new Map([["12", "bookworm"], ["13", "trixie"]]);

/**
 * Carries out a Dockerfile without a container engine: each stage is a folder, a base image is a Debian system made by
 * `debootstrap`, and `RUN` is a shell with that folder as its root. It needs root.
 *
 * @throws {MissingTool}
 * @throws {Error} for a step that fails, and for instructions that it does not know
 */
export async function buildImage({ args, stages }: Dockerfile, options: BuildOptions): Promise<BuiltImage> {
  const globals = new Map([...args, ["TARGETARCH", options.arch]]);
  const built = new Map<string, BuiltImage>();
  let last: BuiltImage | null = null;
  for (const [index, stage] of stages.entries()) {
    if (!isNeeded(stage, stages, globals)) continue;
    last = await buildStage(stage, join(options.folder, `stage-${index}`), { ...options, globals, built });
    if (stage.name !== null) built.set(stage.name, last);
  }
  return last ?? fail("the Dockerfile has no stage");
}

interface StageContext extends BuildOptions {
  readonly globals: ReadonlyMap<string, string>;
  readonly built: ReadonlyMap<string, BuiltImage>;
}

/** Whether the last stage, or one that it needs, is built on a stage or copies from it. */
function isNeeded(stage: Stage, stages: readonly Stage[], globals: ReadonlyMap<string, string>): boolean {
  if (stage === stages.at(-1)) return true;
  return stages.some((later) =>
    later !== stage && (filledIn(later.base, globals) === stage.name ||
      later.instructions.some(({ flags }) => flags.get("from") === stage.name)) &&
    isNeeded(later, stages, globals)
  );
}

async function buildStage(stage: Stage, root: string, context: StageContext): Promise<BuiltImage> {
  const base = filledIn(stage.base, context.globals);
  const parent = context.built.get(base);
  if (base === "scratch") await Deno.mkdir(root);
  else await run("cp", ["-a", parent?.root ?? await debian(base, context.cache), root]);
  const env = new Map(parent?.env ?? [["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]]);
  const variables = new Map(env);
  let { workingFolder, user, entrypoint } = parent ?? { workingFolder: "/", user: "0:0", entrypoint: [] };
  for (const instruction of stage.instructions) {
    const text = filledIn(instruction.text, variables);
    switch (instruction.name) {
      case "ARG":
      case "ENV":
        for (const [name, value] of assignments(text)) {
          variables.set(name, value);
          if (instruction.name === "ENV") env.set(name, value);
        }
        break;
      case "LABEL":
      case "EXPOSE":
        break;
      case "ADD":
        await add(instruction, root);
        break;
      case "COPY":
        await copy(instruction, root, workingFolder, context);
        break;
      case "WORKDIR":
        workingFolder = text;
        await Deno.mkdir(join(root, text), { recursive: true });
        break;
      case "USER":
        user = text;
        break;
      case "RUN":
        await runInside(root, workingFolder, env, text);
        break;
      case "ENTRYPOINT":
        entrypoint = JSON.parse(text);
        break;
      default:
        fail(`${instruction.name} is not known here`);
    }
  }
  return { root, env, workingFolder, user, entrypoint };
}

/** The folder of a minimal Debian system, created once. */
async function debian(image: string, cache: string): Promise<string> {
  const release = RELEASES.get(/^debian:(\d+)\./.exec(image)?.[1] ?? "") ?? fail(`${image} is no version of Debian`);
  const root = join(cache, `debian-${release}`);
  const program = onPath("debootstrap");
  if (!program) throw new MissingTool("debootstrap is missing: install Debian's package debootstrap");
  if (await exists(root)) return root;
  await Deno.mkdir(cache, { recursive: true });
  const unfinished = `${root}.unfinished`;
  await run("rm", ["-rf", unfinished]);
  await run(program, ["--variant=minbase", release, unfinished]);
  await run("sh", ["-c", 'rm -rf "$0"/var/cache/apt/* "$0"/var/lib/apt/lists/*', unfinished]);
  await Deno.rename(unfinished, root);
  return root;
}

/** Downloads an archive and compares it with its digest. */
async function add({ flags, text }: Instruction, root: string): Promise<void> {
  const [url, target] = text.split(/\s+/);
  const registry = Deno.env.get("NPM_CONFIG_REGISTRY")?.replace(/\/$/, "");
  const response = await fetch(registry ? url.replace("https://registry.npmjs.org", registry) : url);
  if (!response.ok) fail(`${url}: status ${response.status}`);
  const bytes = await response.bytes();
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  if (digest !== flags.get("checksum")) fail(`${url} has the digest ${digest}`);
  await Deno.writeFile(join(root, target), bytes);
}

async function copy({ flags, text }: Instruction, root: string, workingFolder: string, context: StageContext) {
  const words = text.split(/\s+/);
  const target = join(root, words.at(-1)!.startsWith("/") ? "/" : workingFolder, words.at(-1)!);
  const from = flags.get("from");
  const stage = from === undefined ? null : context.built.get(from) ?? fail(`there is no stage ${from}`);
  for (const source of words.slice(0, -1)) {
    if (stage) {
      await Deno.mkdir(dirname(target), { recursive: true });
      await run("cp", ["-a", "--no-target-directory", join(stage.root, source), target]);
    } else await copyContext(context.project, source === "." ? "" : source, target);
  }
}

/** Copies what `.dockerignore` leaves of a file or folder of the project. */
async function copyContext(project: string, source: string, target: string): Promise<void> {
  const context = readBuildContext(await Deno.readTextFile(join(project, ".dockerignore")));
  const walk = async (path: string) => {
    const { isDirectory } = await Deno.stat(join(project, path));
    if (path !== "" && !context.has(path)) return;
    if (!isDirectory) {
      await Deno.mkdir(dirname(join(target, path)), { recursive: true });
      await Deno.copyFile(join(project, path), join(target, path));
      return;
    }
    for await (const { name, isSymlink } of Deno.readDir(join(project, path))) {
      if (!isSymlink) await walk(join(path, name));
    }
  };
  await walk(source);
}

/** Runs a line of shell with a folder as its root, and this machine's network and authorities. */
async function runInside(root: string, folder: string, env: ReadonlyMap<string, string>, line: string): Promise<void> {
  const given = SURROUNDINGS.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const variables = [...[...env].map(([name, value]) => `${name}=${value}`), ...given];
  const mounts = [
    'mount -t proc proc "$0/proc"',
    'mount --rbind /dev "$0/dev"',
    'touch "$0/etc/resolv.conf"',
    'mount --bind /etc/resolv.conf "$0/etc/resolv.conf"',
    `if [ -d ${AUTHORITIES} ]; then mkdir -p "$0${AUTHORITIES}"; mount --bind ${AUTHORITIES} "$0${AUTHORITIES}"; fi`,
  ];
  const script = `set -e; ${mounts.join("; ")}; root=$0; exec chroot "$root" /usr/bin/env -i "$@"`;
  const inside = [...variables, "sh", "-c", `cd ${folder} && ${line}`];
  await run("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, root, ...inside]);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function fail(message: string): never {
  throw new Error(message);
}
