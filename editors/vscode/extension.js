"use strict";
// Starts `textrank lsp` and shows its diagnostics and quick fixes.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { clientOptions, serverOptions } = require("./options");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("textrank");
  client = new LanguageClient(
    "textrank",
    "textrank spell",
    serverOptions(settings.get("command")),
    clientOptions(settings.get("languages")),
  );
  await client.start();
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) {
    await running.stop();
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("textrank.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = stop;
