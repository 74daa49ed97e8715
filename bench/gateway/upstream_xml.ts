const ENTRIES = 1000;
const encoder = new TextEncoder();

/** A page of 1000 objects as an S3 store answers it, owners included. */
export const LISTING: Uint8Array<ArrayBuffer> = encoder.encode(
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
    `<Name>notes</Name><Prefix></Prefix><MaxKeys>${ENTRIES}</MaxKeys><KeyCount>${ENTRIES}</KeyCount>` +
    `<IsTruncated>true</IsTruncated><NextContinuationToken>cGFnZS0y</NextContinuationToken>` +
    `<EncodingType>url</EncodingType>${
      Array.from({ length: ENTRIES }, (_, n) => entry(n)).join("")
    }</ListBucketResult>`,
);

/** The response that starts a multipart upload. */
export const UPLOAD: Uint8Array<ArrayBuffer> = encoder.encode(
  `<?xml version="1.0" encoding="UTF-8"?>\n<InitiateMultipartUploadResult><Bucket>notes</Bucket><Key>film.mkv</Key>` +
    `<UploadId>VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRz</UploadId></InitiateMultipartUploadResult>`,
);

/** The end of an upload in parts. */
export const COMPLETED: Uint8Array<ArrayBuffer> = encoder.encode(
  `<?xml version="1.0" encoding="UTF-8"?>\n<CompleteMultipartUploadResult><Bucket>notes</Bucket><Key>film.mkv</Key>` +
    `<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e-2&quot;</ETag></CompleteMultipartUploadResult>`,
);

function entry(n: number): string {
  const key = `volumes/${String(n).padStart(6, "0")}/R0000459_0000${n % 10}.xml`;
  return `<Contents><Key>${encodeURIComponent(key).replaceAll("%2F", "/")}</Key>` +
    `<LastModified>2026-11-21T04:17:${String(n % 60).padStart(2, "0")}.123Z</LastModified>` +
    `<ETag>&quot;d41d8cd98f00b204e9800998${String(n).padStart(8, "0")}&quot;</ETag><Size>${n * 37}</Size>` +
    `<Owner><ID>b3f9a1c2-7d5e-4f60-8a1b-${
      String(n % 4).padStart(12, "0")
    }</ID><DisplayName>curator</DisplayName></Owner>` +
    `<StorageClass>STANDARD</StorageClass></Contents>`;
}
