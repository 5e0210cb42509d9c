/** Where the daemon is and who the caller is. A credential does not leave the machine unencrypted unless that is asked for. */
import { SettingInvalidError } from "./errors.js";

/** Where a daemon listens that nobody told otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:18301";

const TOKEN = /^[!-~]{1,512}$/;
const PRINTABLE = /^[!-~]+$/;

/** Scheme, host, port and path prefix, without a slash at the end. Throws SettingInvalidError naming the setting. */
export function baseOf(name: string, given: string, allowPlainHttp: boolean): string {
  if (!PRINTABLE.test(given)) throw new SettingInvalidError(name, "must be a URL of printable ASCII");
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new SettingInvalidError(name, "is not a URL");
  }
  if (url.protocol === "unix:") throw new SettingInvalidError(name, "names a socket, which fetch cannot connect to; use the TCP address");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new SettingInvalidError(name, "must be http://HOST or https://HOST");
  if (url.username !== "" || url.password !== "" || /[?#@]/.test(given)) {
    throw new SettingInvalidError(name, "must not hold a user, a query or a fragment");
  }
  if (url.protocol === "http:" && !allowPlainHttp && !isLoopback(url.hostname)) {
    throw new SettingInvalidError(name, "is plain http to another machine, where the credential could be read on the way; use https");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(host);
}

/** The credential itself. Anything else could end the header and start another. */
export function tokenOf(name: string, given: string): string {
  if (!TOKEN.test(given)) throw new SettingInvalidError(name, "must be 1 to 512 printable ASCII characters without a space");
  return given;
}

/** A time or a count that bounds something. */
export function boundOf(name: string, given: number, most: number): number {
  if (!(given > 0 && given <= most)) throw new SettingInvalidError(name, `must be more than 0 and at most ${most}`);
  return given;
}
