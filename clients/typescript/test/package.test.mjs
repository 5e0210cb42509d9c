// The package as it is published: what is in it, what it imports, and that it works where it is installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

const root = new URL("../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
const modules = readdirSync(new URL("src/", root)).map((name) => name.replace(/\.ts$/, ""));
const folder = mkdtempSync(join(tmpdir(), "mail4agent-"));
after(() => rmSync(folder, { recursive: true }));
let packed;
before(() => {
  const out = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: root, encoding: "utf8" });
  [packed] = JSON.parse(out);
  const installed = join(folder, "node_modules", "mail4agent");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, packed.filename), "-C", installed, "--strip-components=1"]);
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
});

test("the package holds its modules, their types, the readme and the licence, and nothing else", () => {
  const dist = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), ["LICENSE", "README.md", "package.json", ...dist].sort());
  assert.equal(read("LICENSE"), read("../../LICENSE"));
});

test("the package is publishable and depends on nothing at run time", () => {
  const manifest = JSON.parse(read("package.json"));
  for (const key of ["private", "dependencies", "peerDependencies", "optionalDependencies"]) assert.ok(!(key in manifest), key);
  assert.equal(manifest.version, /^version = "(.*)"$/m.exec(read("../../pyproject.toml"))[1]);
});

test("what a browser gets imports nothing of Node.js", () => {
  const seen = new Set();
  const walk = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = read(path);
    assert.ok(!/\b(process|Buffer|require)\b/.test(text.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/"[^"\n]*"/g, "")), path);
    for (const [, wanted] of text.matchAll(/^(?:import|export) .*?from "(.*?)"|^import "(.*?)"/gm)) {
      assert.match(wanted, /^\.\/[a-z]+\.js$/, path);
      walk(join(dirname(path), wanted));
    }
  };
  walk("dist/index.js");
  assert.ok(seen.size > 8);
});

test("it is imported where it is installed, by Node.js and as a browser would", () => {
  const script = `
    import { MailClient, addressOf, settingsOf } from "mail4agent";
    const { index } = Object.fromEntries([["index", await import("./node_modules/mail4agent/dist/index.js")]]);
    console.log(JSON.stringify([typeof settingsOf, typeof index.settingsOf, index.MailClient === MailClient, addressOf("#ops")]));`;
  const out = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder, encoding: "utf8" });
  assert.deepEqual(JSON.parse(out), ["function", "undefined", true, { kind: "room", room: "ops" }]);
});

test("the program of the readme type-checks against the installed package", () => {
  const blocks = [...read("README.md").matchAll(/^```ts\n(.*?)^```$/gms)].map((found) => found[1]);
  assert.ok(blocks.length >= 3);
  blocks.forEach((block, index) => writeFileSync(join(folder, `block${index}.ts`), block));
  const options = { strict: true, noEmit: true, target: "ES2022", module: "NodeNext", types: [], typeRoots: [], lib: ["ES2022", "DOM"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  const compiler = new URL("node_modules/typescript/bin/tsc", root).pathname;
  assert.equal(execFileSync(process.execPath, [compiler, "--project", folder], { encoding: "utf8" }), "");
});
