import assert from "node:assert/strict";

const read = (file: string) => Deno.readTextFile(`deploy/${file}`);

Deno.test("proxies: nginx passes the headers and bodies on, and refuses other names, for every port that it serves", async () => {
  const text = (await read("nginx.conf")).replace(/^\s*#.*/gm, "");
  assert.deepEqual(text.split("\n").filter((line) => line.trim() !== "" && !/[;{}]\s*$/.test(line)), []);
  const locations = text.split("location / {").slice(1).map((rest) => rest.slice(0, rest.indexOf("}")));
  assert.equal(locations.length, 2);
  for (const location of locations) {
    assert.match(location, /proxy_set_header Host \$http_host;/);
    assert.match(location, /proxy_set_header X-Forwarded-Proto \$scheme;/);
    assert.match(location, /proxy_set_header X-Forwarded-For \$remote_addr;/);
    assert.match(location, /proxy_request_buffering off;\s*proxy_buffering off;/);
    assert.match(location, /proxy_read_timeout 660s;/);
  }
  assert.equal(text.match(/client_max_body_size 0;/g)?.length, 2);
  assert.equal(text.match(/limit_conn stackroom_clients 100;/g)?.length, 2);
  assert.equal(text.match(/default_server;[^}]*return 421;/g)?.length, 2);
});

Deno.test("proxies: HAProxy sets the headers, and refuses other names", async () => {
  const text = await read("haproxy.cfg");
  const [, tls] = /^frontend tls\n(.*?)^backend/ms.exec(text)!;
  assert.match(tls, /http-request set-header X-Forwarded-Proto https/);
  assert.match(tls, /http-request set-header X-Forwarded-For %\[src\]/);
  assert.match(tls, /http-request set-header X-Forwarded-Host %\[req\.hdr\(host\)\]/);
  assert.match(tls, /tcp-request connection reject if \{ sc0_conn_cur gt 100 \}/);
  assert.match(tls, /default_backend other_names/);
  assert.match(text, /^backend other_names\n {2}http-request deny deny_status 421$/m);
  assert.match(text, /timeout server 660s/);
});
