import { fileURLToPath } from "node:url";
import project from "@/deno.json" with { type: "json" };
import { readImports, readSources, type Sources } from "@/tools/imports.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const PACKAGES = `${ROOT}/node_modules/.deno`;
/** Served as a file of its package, and of which the stylesheet holds rules. */
const ALSO_SERVED = ["swagger-ui-dist", "@twind/core", "@twind/preset-tailwind", "@twind/preset-autoprefix"];
const RULE = "=".repeat(80);

const INTRODUCTION =
  `Stackroom is under the licence in LICENSE. It is distributed with the packages below, whose licences follow. The
image of deploy/Dockerfile holds Deno (MIT, https://github.com/denoland/deno) and Debian packages beside them.
`;

interface Package {
  readonly name: string;
  readonly version: string;
  /** The identifier in its package.json. */
  readonly licence: string;
  /** The texts of its licence files. */
  readonly text: string;
}

/** The text of THIRD_PARTY_NOTICES.txt: every package that the application installs, those sent to browsers first. */
export function noticesPage(): string {
  const lock: Record<string, LockedPackage> = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.lock`)).npm;
  const sent = withDependencies([...importedByBrowsers(readSources(ROOT)), ...ALSO_SERVED], lock);
  const all = Object.keys(lock).map(nameOf).filter((name, at, names) => names.indexOf(name) === at);
  const packages = all.flatMap((name) => readPackage(name, lock));
  return [
    INTRODUCTION,
    ...section("Sent to browsers, whole or in part", packages.filter(({ name }) => sent.has(name))),
    ...section("Used by the server and by the build", packages.filter(({ name }) => !sent.has(name))),
  ].join("\n");
}

interface LockedPackage {
  readonly dependencies?: readonly string[];
}

/** The packages that the islands import, themselves or through other files. */
function importedByBrowsers(sources: Sources): string[] {
  const imports = readImports(sources).filter(({ isType }) => !isType);
  const files = new Set([...sources.keys()].filter((file) => file.startsWith("islands/")));
  for (const file of files) imports.filter(({ from }) => from === file).forEach(({ to }) => files.add(to));
  const texts = [...files].map((file) => sources.get(file) ?? "");
  return Object.keys(project.imports).filter((name) =>
    name !== "@/" && texts.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`))
  );
}

function withDependencies(names: readonly string[], lock: Readonly<Record<string, LockedPackage>>): Set<string> {
  const found = new Set(names);
  for (const name of found) {
    for (const [key, { dependencies = [] }] of Object.entries(lock)) {
      if (nameOf(key) === name) dependencies.forEach((dependency) => found.add(nameOf(dependency)));
    }
  }
  return found;
}

/** The name in `@scope/name@version_peers`, or in a name without a version. */
function nameOf(key: string): string {
  const end = key.indexOf("@", 1);
  return end < 0 ? key : key.slice(0, end);
}

/** Nothing for a package of another platform, which is not installed. */
function readPackage(name: string, lock: Readonly<Record<string, LockedPackage>>): Package[] {
  return Object.keys(lock).filter((key) => nameOf(key) === name).flatMap((key) => {
    const version = key.slice(name.length + 1).split("_")[0];
    const folder = `${PACKAGES}/${name.replace("/", "+")}@${version}/node_modules/${name}`;
    if (name.startsWith("@esbuild/") || !isFolder(folder)) return [];
    const { license, author } = JSON.parse(Deno.readTextFileSync(`${folder}/package.json`));
    const files = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
      /^(licen[cs]e|copying|notice)/i.test(name) || name === "swagger-ui-bundle.js.LICENSE.txt"
    ).sort();
    const texts = files.map((file) => Deno.readTextFileSync(`${folder}/${file}`).replaceAll("\r\n", "\n").trim());
    const holder = typeof author === "string" ? author : author?.name ?? name;
    const text = texts.length > 0 ? texts.join("\n\n") : `The package has no licence file. Its author: ${holder}`;
    return [{ name, version, licence: license, text }];
  });
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** A heading, then each text once below the packages that it belongs to. */
function section(title: string, packages: readonly Package[]): string[] {
  const byText = Map.groupBy(packages, ({ text }) => text);
  const groups = [...byText].map(([text, group]) => [
    RULE,
    ...group.map(({ name, version, licence }) => `${name} ${version} (${licence})`),
    "",
    text,
    "",
  ]);
  return [RULE, title.toUpperCase(), ...groups.flat()];
}
