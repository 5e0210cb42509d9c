/** What Node.js has besides: the settings of the environment, as the command line and the Python client read them. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ClientSettings } from "./client.js";
import { SettingInvalidError } from "./errors.js";
import { tokenOf } from "./settings.js";

export * from "./index.js";

/** Bytes of a credential file that are looked at. */
const TOKEN_FILE_LIMIT = 4096;

/**
 * `M4A_URL`, and `M4A_TOKEN` or the content of the file that `M4A_TOKEN_FILE` names. Throws SettingInvalidError.
 *
 * `new MailClient(settingsOf())`, or with more: `new MailClient({ ...settingsOf(), answerSecs: 5 })`.
 */
export function settingsOf(environment: Readonly<Record<string, string | undefined>> = process.env): ClientSettings {
  const { M4A_URL: url, M4A_TOKEN: token, M4A_TOKEN_FILE: file } = environment;
  return {
    ...(url ? { url } : {}),
    ...(token ? { token: tokenOf("M4A_TOKEN", token) } : file ? { token: readToken(file, "M4A_TOKEN_FILE") } : {}),
  };
}

/** A credential from a file that nobody but its owner can open. Throws SettingInvalidError, which blames `name`. */
export function readToken(path: string, name = "tokenFile"): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    throw new SettingInvalidError(name, "names a file that cannot be read");
  }
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new SettingInvalidError(name, "must name a regular file");
    const owner = process.geteuid?.();
    if (owner !== undefined) {
      if ((status.mode & 0o077) !== 0) {
        throw new SettingInvalidError(name, "names a file that others can open; make it private with chmod 600");
      }
      if (status.uid !== owner && status.uid !== 0) throw new SettingInvalidError(name, "names a file of another user");
    }
    const content = Buffer.alloc(TOKEN_FILE_LIMIT);
    return tokenOf(name, content.toString("latin1", 0, readSync(file, content)).trim());
  } finally {
    closeSync(file);
  }
}
