import { delimiter, dirname, resolve } from "node:path";
import { parse } from "yaml";

/** The files and programs that access to a cluster needs. */
export interface KubeconfigAccess {
  /** The files of the configuration, and those that its current context names: authorities, certificates, tokens. */
  readonly files: readonly string[];
  /** The programs that print credentials. */
  readonly commands: readonly string[];
}

interface Named {
  readonly name?: unknown;
  readonly folder: string;
  readonly content: Members;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The files and programs that the current context of kubeconfig files needs. Files are merged as kubectl merges them: the
 * first value wins. A file that is missing or is no kubeconfig needs nothing; the connection reports the error.
 *
 * @param source a path, or several joined as in PATH; or a configuration itself, whose paths are below the working folder
 * @param read the text of a file, or null where it cannot be read
 */
export function kubeconfigAccess(
  source: { readonly path: string } | { readonly text: string },
  read: (path: string) => string | null,
): KubeconfigAccess {
  const list = "path" in source ? source.path : "";
  const paths = list.split(delimiter).filter((path) => path !== "").map((path) => resolve(path));
  const configs = "text" in source
    ? [{ folder: resolve(), config: parsed(source.text) }]
    : paths.map((path) => ({ folder: dirname(path), config: parsed(read(path)) }));
  const find = (kind: string, content: string, name: unknown): Named | undefined =>
    configs.flatMap(({ folder, config }) => entries(config[kind], content, folder)).find((one) => one.name === name);

  const current = configs.map(({ config }) => config["current-context"]).find((name) => typeof name === "string");
  const context = find("contexts", "context", current)?.content ?? {};
  const cluster = find("clusters", "cluster", context.cluster);
  const user = find("users", "user", context.user);
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

/** Paths in a kubeconfig are relative to its own folder. */
function named(entry: Named | undefined, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const path = entry?.content[key];
    return typeof path === "string" && path !== "" ? [resolve(entry?.folder ?? "", path)] : [];
  });
}

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
