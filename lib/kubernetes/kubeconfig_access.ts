import { delimiter, dirname, resolve } from "node:path";
import { parse } from "yaml";

/** What entering a cluster takes beside the network. */
export interface KubeconfigAccess {
  /** The files of the configuration, and those that its current context names: authorities, certificates, tokens. */
  readonly files: readonly string[];
  /** The programs that print credentials. */
  readonly commands: readonly string[];
}

/** A path, or several joined as in PATH; or a configuration itself, whose paths are below the working folder. */
export type KubeconfigSource = { readonly path: string } | { readonly text: string };

/** A cluster, a user or a context. */
export interface Named {
  readonly name?: unknown;
  /** That of its kubeconfig, to which its paths are relative. */
  readonly folder: string;
  readonly content: Members;
}

type Members = Readonly<Record<string, unknown>>;

/** What the current context of kubeconfig files leads to. */
interface CurrentContext {
  /** The kubeconfig files. */
  readonly paths: readonly string[];
  readonly cluster: Named | undefined;
  readonly user: Named | undefined;
}

/**
 * The current context of kubeconfig files, merged as kubectl merges them: the first file that says something wins. A file
 * that is missing or is no kubeconfig says nothing.
 *
 * @param read the text of a file, or null where it cannot be read
 */
export function currentContext(source: KubeconfigSource, read: (path: string) => string | null): CurrentContext {
  const list = "path" in source ? source.path : "";
  const paths = list.split(delimiter).filter((path) => path !== "").map((path) => resolve(path));
  const configs = "text" in source
    ? [{ folder: resolve(), config: parsed(source.text) }]
    : paths.map((path) => ({ folder: dirname(path), config: parsed(read(path)) }));
  const find = (kind: string, content: string, name: unknown): Named | undefined =>
    configs.flatMap(({ folder, config }) => entries(config[kind], content, folder)).find((one) => one.name === name);

  const current = configs.map(({ config }) => config["current-context"]).find((name) => typeof name === "string");
  const context = find("contexts", "context", current)?.content ?? {};
  return { paths, cluster: find("clusters", "cluster", context.cluster), user: find("users", "user", context.user) };
}

/**
 * What the current context of kubeconfig files needs. A file that is missing or is no kubeconfig needs nothing; the
 * connection reports what is wrong.
 *
 * @param read the text of a file, or null where it cannot be read
 */
export function kubeconfigAccess(
  source: KubeconfigSource,
  read: (path: string) => string | null,
): KubeconfigAccess {
  const { paths, cluster, user } = currentContext(source, read);
  const provider = members(members(user?.content["auth-provider"]).config);
  const exec = user?.content.exec ?? provider.exec;
  return {
    files: [
      ...paths,
      ...named(cluster, ["certificate-authority"]),
      ...named(user, ["client-certificate", "client-key", "tokenFile", "token-file"]),
      ...(user ? named({ ...user, content: provider }, ["tokenFile"]) : []),
    ],
    commands: [members(exec).command].filter((command) => typeof command === "string"),
  };
}

function parsed(text: string | null): Members {
  try {
    // Its warnings would quote lines of the file, which has secrets, on standard error.
    return members(text === null ? null : parse(text, { logLevel: "error" }));
  } catch {
    return {};
  }
}

function entries(list: unknown, content: string, folder: string): Named[] {
  return (Array.isArray(list) ? list : []).map((entry) => {
    const { name, [content]: inner } = members(entry);
    return { name, folder, content: members(inner) };
  });
}

function named(entry: Named | undefined, keys: readonly string[]): string[] {
  return entry ? keys.flatMap((key) => pathIn(entry, key) ?? []) : [];
}

/** The path of a member, which is relative to the kubeconfig's own folder; null where it has none. */
export function pathIn({ content, folder }: Named, key: string): string | null {
  const path = content[key];
  return typeof path === "string" && path !== "" ? resolve(folder, path) : null;
}

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
