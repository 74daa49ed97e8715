// Sends the files of a folder through the gateway, six at a time over connections that stay open, each with its SHA-256:
// `node put_files.mjs SITE TOKEN BUCKET FOLDER`. It prints the milliseconds that it took.
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import process from "node:process";

const [site, token, bucket, folder] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const agent = new http.Agent({ keepAlive: true, maxSockets: 6 });

/** @returns {Promise<void>} */
function put(key, body) {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-length": body.length,
    "x-amz-checksum-sha256": createHash("sha256").update(body).digest("base64"),
  };
  return new Promise((resolve, reject) => {
    const path = `${site}api/v1/buckets/${bucket}/objects/${encodeURIComponent(key)}`;
    const request = http.request(path, { method: "PUT", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const startedAt = performance.now();
let next = 0;
await Promise.all(Array.from({ length: 6 }, async () => {
  while (next < files.length) {
    const path = `${files[next].parentPath}/${files[next].name}`;
    next++;
    await put(`script/${path.slice(folder.length + 1)}`, await readFile(path));
  }
}));
console.log(performance.now() - startedAt);
agent.destroy();
