/**
 * Carries out deploy/Dockerfile without a container engine, then starts each role as a container would be: as uid 1000,
 * as process 1, on a root that cannot be written. It prints the image's size, and for each role how long a start takes
 * and the memory of its processes. It needs root, Linux and `debootstrap`.
 */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { toolArguments } from "@/tools/arguments.ts";
import { readDockerfile } from "./dockerfile.ts";
import { buildImage, type BuiltImage } from "./image_builder.ts";
import { ImageProcess } from "./image_process.ts";
import { inTemporaryFolder } from "@/tools/temporary_tool.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
/** Starts of each role, of which the median counts. */
const STARTS = 5;
const MIB = 2 ** 20;
/** Debian systems are made once for many trials. */
const CACHE = `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/stackroom-image`;

/** An address where no server listens: a start needs none of its upstreams. */
const NOWHERE = "http://127.0.0.1:9";
const STORE = { STORAGE_BACKEND: "generic", S3_ENDPOINT_URL: NOWHERE };

interface Role {
  readonly env: Readonly<Record<string, string>>;
  /** Paths that need no login. */
  readonly paths: readonly string[];
}

const ROLES: Readonly<Record<string, Role>> = {
  gateway: {
    env: { ROLES: "gateway", ...STORE, API_SECRET_KEY: randomBytes(32).toString("hex") },
    paths: ["/healthz", "/docs", "/openapi.json"],
  },
  web: {
    env: {
      ROLES: "web",
      CAMPAIGN_WEB_SITE_ONLY: "1",
      GATEWAY_URL: NOWHERE,
      RESULTS_SESSION_KEY_FILE: "/tmp/session-key",
    },
    paths: ["/healthz", "/", "/login"],
  },
  results: {
    env: {
      ROLES: "results",
      STORAGE_BACKEND: "generic",
      RESULTS_S3_ENDPOINT: NOWHERE,
      RESULTS_S3_BUCKET: "results",
      RESULTS_SESSION_KEY_FILE: "/tmp/session-key",
    },
    paths: ["/healthz"],
  },
};

toolArguments("deno run --config deno.test.json -A tools/deploy/try_image.ts");
await inTemporaryFolder("image", async (folder) => {
  const began = performance.now();
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
  const dockerfile = readDockerfile(await Deno.readTextFile(`${PROJECT}/deploy/Dockerfile`));
  const image = await buildImage(dockerfile, { project: PROJECT, folder, cache: CACHE, arch });
  console.log(`built in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  for (const path of ["", "/usr/local/bin/deno", "/app", "/app/node_modules", "/deno-dir"]) {
    console.log(`${(path || "all").padEnd(20)} ${(await size(image.root + path) / MIB).toFixed(0)} MiB`);
  }
  for (const [name, role] of Object.entries(ROLES)) await tryRole(name, role, image);
});

async function size(path: string): Promise<number> {
  const { stdout } = await new Deno.Command("du", { args: ["-sx", "--block-size=1", path] }).output();
  return Number(new TextDecoder().decode(stdout).split("\t")[0]);
}

async function tryRole(name: string, { env, paths }: Role, image: BuiltImage): Promise<void> {
  const starts: number[] = [];
  for (let n = 0; n < STARTS; n++) {
    const began = performance.now();
    await using container = await ImageProcess.start(image, env);
    starts.push(performance.now() - began);
    if (n > 0) continue;
    await container.examine();
    for (const path of paths) {
      const response = await fetch(container.address + path, { redirect: "manual" });
      await response.body?.cancel();
      if (response.status !== 200) throw new Error(`${name}: ${path} is ${response.status}`);
    }
    console.log(`${name}: ${await container.memory()}`);
  }
  console.log(`${name}: responds after ${starts.sort((a, b) => a - b)[STARTS >> 1].toFixed(0)} ms (${STARTS} starts)`);
}
