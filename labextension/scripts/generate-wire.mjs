/**
 * Writes labextension/src/api/wire.ts from the OpenAPI document of the server extension's responses.
 *
 * `npm run wire` runs it. PYTHON names the interpreter that has foldnote (default: .venv/bin/python, else python3).
 * With `--print` the text is written to stdout instead, which the sync test uses for its comparison.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const HEADER = `/**
 * Responses of the server extension, generated from \`python -m foldnote.lab.responses\`. Do not edit: run \`npm run wire\`.
 */
`;

const python = process.env.PYTHON ?? (existsSync('.venv/bin/python') ? '.venv/bin/python' : 'python3');
const document = execFileSync(python, ['-m', 'foldnote.lab.responses'], {
  encoding: 'utf8',
  maxBuffer: 1 << 28
});
const text = HEADER + astToString(await openapiTS(JSON.parse(document), { alphabetize: true }));

if (process.argv.includes('--print')) {
  process.stdout.write(text);
} else {
  writeFileSync('labextension/src/api/wire.ts', text);
}
