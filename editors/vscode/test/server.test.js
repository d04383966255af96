"use strict";
// Talks to the real server with the options of the extension, without an editor: `node --test`.
// TEXTRANK_COMMAND names another command, separated by blanks.

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const test = require("node:test");
const { clientOptions, serverOptions } = require("../options");
const manifest = require("../package.json");

const settings = manifest.contributes.configuration.properties;

test("every language that is checked activates the extension", () => {
  const languages = settings["textrank.languages"].default;
  assert.deepStrictEqual(
    manifest.activationEvents,
    languages.map((language) => `onLanguage:${language}`),
  );
  assert.strictEqual(clientOptions(languages).documentSelector.length, 2 * languages.length);
});

test("an empty command is refused", () => {
  assert.throws(() => serverOptions([]), /textrank.command/);
});

test("the server reports a wrong word", async () => {
  const configured = process.env.TEXTRANK_COMMAND;
  const command = configured ? configured.split(" ") : settings["textrank.command"].default;
  const { command: program, args } = serverOptions(command);
  const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const send = (message) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    server.stdin.write(body);
  };
  const diagnostics = new Promise((resolve, reject) => {
    let data = Buffer.alloc(0);
    server.on("error", reject);
    server.stdout.on("data", (chunk) => {
      data = Buffer.concat([data, chunk]);
      for (;;) {
        const end = data.indexOf("\r\n\r\n");
        const header = /Content-Length: (\d+)/i.exec(data.subarray(0, Math.max(end, 0)));
        if (end < 0 || !header || data.length < end + 4 + Number(header[1])) return;
        const body = data.subarray(end + 4, end + 4 + Number(header[1]));
        data = data.subarray(end + 4 + Number(header[1]));
        const message = JSON.parse(body);
        if (message.method === "textDocument/publishDiagnostics") resolve(message.params);
      }
    });
  });
  const uri = "untitled:note.md";
  const text = "This one is larger then the other.\n";
  send({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } });
  send({ method: "initialized", params: {} });
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "markdown", version: 1, text } },
  });
  try {
    const shown = await diagnostics;
    assert.strictEqual(shown.diagnostics.length, 1);
    assert.match(shown.diagnostics[0].message, /then → than/);
  } finally {
    server.kill();
  }
});
