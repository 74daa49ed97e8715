import type { ClusterConnection } from "./connection.ts";

/** Whether the API server answers us, for readiness; every account may ask for its version. Never throws. */
export async function clusterReachable(connection: ClusterConnection): Promise<boolean> {
  try {
    const { status, body } = await connection.send({ method: "GET", path: "/version" });
    return status === 200 && typeof JSON.parse(new TextDecoder().decode(body)).gitVersion === "string";
  } catch {
    return false;
  }
}
