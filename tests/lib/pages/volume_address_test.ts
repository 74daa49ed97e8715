import assert from "node:assert/strict";

import { volumeLinks } from "@/lib/campaigns/projection/urls.ts";
import { readVolumeAddress } from "@/lib/pages/volume_address.ts";

Deno.test("volume address: each file of a volume says the volume and where its others are, whatever the results URL", () => {
  for (const results of ["https://site.example/results", "https://site.example", "http://h:8080/a/b/results"]) {
    const links = volumeLinks(results, "batch-default", "lion v2")("SE/GÖT (1)");
    for (const file of [links.iiifUrl, `${links.manifestUrl}?x=1`, `${links.altoPrefix}0007.xml#y`]) {
      assert.deepEqual(readVolumeAddress(file), {
        volume: "SE/GÖT (1)",
        pipeline: "lion v2",
        namespace: "batch-default",
        iiifUrl: links.iiifUrl,
        runManifestUrl: links.manifestUrl,
        progressUrl: links.manifestUrl.replace("manifest.json", "progress.json"),
        pagesUrl: `${results}/_pages/batch-default/lion%20v2/SE%2FG%C3%96T%20%281%29`,
        imagesManifestUrl: `${results}/batch-default/sources/lion%20v2/SE%2FG%C3%96T%20%281%29/manifest.json`,
        logUrl: links.logUrl,
      }, file);
    }
  }
});

Deno.test("volume address: no other address is one of a volume", () => {
  const others = [
    "https://site.example/p/v/iiif.json",
    "https://site.example/results/ns/p/v/other.json",
    "https://site.example/results/ns/p/v/alto/a/b.xml",
    "https://site.example/results/ns/status/logs/p/v.txt",
    "ftp://site.example/results/ns/p/v/iiif.json",
    "data:/results/ns/p/v/iiif.json",
    "iiif.json",
    "",
  ];
  for (const other of others) assert.equal(readVolumeAddress(other), null, other);
});
