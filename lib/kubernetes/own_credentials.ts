import { join } from "node:path";

/** What a pod knows of its cluster: a token, the authorities, the namespace. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The user's own kubeconfig, whether it is there or not; null for a user without a folder. */
export function ownKubeconfig(env: Readonly<Record<string, string | undefined>>): string | null {
  const home = env.HOME || env.USERPROFILE;
  return home ? join(home, ".kube", "config") : null;
}
