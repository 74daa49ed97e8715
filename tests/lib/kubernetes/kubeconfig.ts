interface KubeconfigParts {
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
}

/** A kubeconfig of one cluster and one user. */
export function kubeconfig({ cluster, user = {} }: KubeconfigParts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

/** Runs with a file of that text in a folder of its own. */
export async function withFile(text: string, use: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/config`, text);
    await use(`${folder}/config`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
