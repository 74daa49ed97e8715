/** Numbers of users and namespaces in the tenant of the benchmarks. */
export const RECORDS = 10_000;

const kept = new Map<string, Uint8Array<ArrayBuffer>>();

/** A MAPI response: a user's record, or a page of names or records of users or namespaces. */
export function mapiAnswer(path: string, query: URLSearchParams): Uint8Array<ArrayBuffer> {
  const name = `${path}?${query}`;
  let answer = kept.get(name);
  if (!answer) kept.set(name, answer = new TextEncoder().encode(JSON.stringify(content(path, query))));
  return answer;
}

function content(path: string, query: URLSearchParams): unknown {
  const list = /\/(userAccounts|namespaces)$/.exec(path)?.[1];
  if (!list) return user(0);
  const offset = Number(query.get("offset") ?? 0);
  const count = Math.min(Number(query.get("count") ?? RECORDS), RECORDS - offset);
  const numbers = Array.from({ length: count }, (_, n) => offset + n);
  if (query.get("verbose") === "true") return numbers.map((n) => list === "namespaces" ? namespace(n) : user(n));
  return { [list === "namespaces" ? "name" : "username"]: numbers.map((n) => `entry-${n}`) };
}

function user(n: number) {
  return {
    username: `entry-${n}`,
    fullName: `Entry number ${n}`,
    description: "Reads and writes letters of the 18th century",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: ["ADMINISTRATOR", "MONITOR"] },
    allowNamespaceManagement: true,
    userGUID: "b3f9a1c2-7d5e-4f60-8a1b-0123456789ab",
    userID: 100 + n,
  };
}

function namespace(n: number) {
  return {
    name: `entry-${n}`,
    description: "Letters of the 18th century",
    hashScheme: "SHA-256",
    enterpriseMode: true,
    hardQuota: "50 GB",
    softQuota: 85,
    servicePlan: "Default",
    optimizedFor: "CLOUD",
    owner: "curator",
    ownerType: "LOCAL",
    searchEnabled: false,
    tags: { tag: ["letters"] },
    creationTime: "2026-11-21T04:17:17+0000",
    id: "b3f9a1c2-7d5e-4f60-8a1b-0123456789ab",
  };
}
