/** The text of a file beside this one, without the line end behind it. */
const pem = (name: string) => Deno.readTextFileSync(new URL(`./certificates/${name}.pem`, import.meta.url)).trimEnd();

/** A throw-away authority and a certificate of 127.0.0.1 under it, for tests of TLS; nothing else trusts them. */
export const TEST_CA = pem("test_ca");
export const TEST_CERTIFICATE = pem("test_certificate");
export const TEST_KEY = pem("test_key");
/** The certificate and its key, as the options of a server. */
export const SERVER = { cert: TEST_CERTIFICATE, key: TEST_KEY };

/** Another authority, its certificate of 127.0.0.1 and the key, for tests in which a certificate is replaced. */
export const OTHER_CA = pem("other_ca");
export const OTHER_CERTIFICATE = pem("other_certificate");
export const OTHER_KEY = pem("other_key");
