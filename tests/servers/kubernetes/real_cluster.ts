import assert from "node:assert/strict";
import { KubeConfig } from "@kubernetes/client-node";
import { jobObject } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

/** A kubeconfig of a real cluster; without one its tests are skipped. */
export const KUBERNETES = Deno.env.get("KUBERNETES_KUBECONFIG");

/** A namespace of its own on the real cluster. */
export interface Real {
  readonly namespace: string;
  /** Asks the API as its administrator; anything but a 2xx fails the test. */
  call(method: string, path: string, body?: unknown, type?: string): Promise<unknown>;
}

/** Makes a namespace, and removes it with all that is in it. */
export async function withNamespace(use: (real: Real) => Promise<void>): Promise<void> {
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromFile(KUBERNETES ?? "");
  const server = kubeconfig.getCurrentCluster()?.server ?? "";
  const given = await kubeconfig.applyToFetchOptions({});
  const client = Deno.createHttpClient({ caCerts: [await authority(kubeconfig)] });
  const headers = {
    authorization:
      new Headers(Object.entries(given.headers ?? {}).map(([name, value]): [string, string] => [name, String(value)]))
        .get("authorization") ?? `Bearer ${kubeconfig.getCurrentUser()?.token}`,
  };
  const namespace = `stackroom-${crypto.randomUUID().slice(0, 8)}`;
  const call: Real["call"] = async (method, path, body, type = "application/json") => {
    const answer = await fetch(server + path, {
      method,
      client,
      headers: { ...headers, "content-type": type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  try {
    await call("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    await use({ namespace, call });
  } finally {
    await call("DELETE", `/api/v1/namespaces/${namespace}`);
    client.close();
  }
}

/** Makes a campaign's Job of four volumes, two at a time, whose pods the real Job controller makes. */
export async function makeCampaignJob({ namespace, call }: Real, name: string): Promise<unknown> {
  const { metadata } = Object(jobObject());
  const volumes = ["campaign", "pipeline"].map((volume) => ({
    name: volume,
    configMap: { name: volume === "campaign" ? `campaign-${name}` : "pipeline-lion-v2" },
  }));
  const containers = [{ name: "wrapper", image: "example.org/worker:1" }];
  return await call("POST", `/apis/batch/v1/namespaces/${namespace}/jobs`, {
    metadata: { name, labels: metadata.labels },
    spec: {
      completions: 4,
      parallelism: 2,
      completionMode: "Indexed",
      backoffLimitPerIndex: 0,
      template: { spec: { restartPolicy: "Never", containers, volumes } },
    },
  });
}

async function authority(kubeconfig: KubeConfig): Promise<string> {
  const { caData, caFile } = kubeconfig.getCurrentCluster() ?? {};
  return caData ? atob(caData) : await Deno.readTextFile(caFile ?? "");
}
