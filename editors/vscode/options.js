"use strict";
// Settings of the extension as options of the language client; needs no editor.

/** Return how the server is started; throws if the command is empty. */
exports.serverOptions = (command) => {
  if (!Array.isArray(command) || command.length === 0) {
    throw new Error('textrank.command must be a list such as ["textrank", "lsp"].');
  }
  const [program, ...args] = command;
  return { command: program, args };
};

/** Return which documents are checked: files and unsaved texts of the languages. */
exports.clientOptions = (languages) => ({
  documentSelector: languages.flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]),
});
