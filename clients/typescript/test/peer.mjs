// A peer on loopback that answers as each test orders, and sees what was sent.
import { createServer } from "node:http";
import { files, bytesOf } from "./vectors.mjs";

/** A valid instance of each type, from the vectors. */
export const EXAMPLES = Object.fromEntries(files.map(({ type, cases }) => [type, bytesOf(cases.find((vector) => vector.valid))]));
export const TOKEN = "5f".repeat(32);
/** So that what is tried again is tried at once. */
export const QUICK = { firstPause: 0.001, longestPause: 0.002 };

/** Start a peer: `answers` are functions of (response, request), the last of them for all that follows. */
export async function peer(t, ...answers) {
  const seen = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const { method, url: path, headers } = request;
      seen.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      answers[Math.min(seen.length, answers.length) - 1](response, request);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { seen, url: `http://127.0.0.1:${server.address().port}` };
}

export const answers = (status, body, headers = {}) => (response) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
};
export const drops = (response) => response.destroy();
export const isSilent = () => {};

/** The method of an operation. */
export const methodOf = (operation) => operation.replace(/^mail\./, "").replaceAll(/[._]([a-z])/g, (_, letter) => letter.toUpperCase());
