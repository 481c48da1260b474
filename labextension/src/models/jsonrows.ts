/** JSON text as rows of a table: a name and a readable value each. */

/** A row of the table; objects within objects have dotted names. */
export interface JsonRow {
  readonly name: string;
  readonly value: string;
}

/** The rows of a JSON object, in its order; null if the text is not one. Empty values are left out. */
export function readJsonRows(text: string): readonly JsonRow[] | null {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  return isObject(found) ? listRows(found, '') : null;
}

function listRows(found: object, before: string): readonly JsonRow[] {
  return Object.entries(found).flatMap(([key, value]: [string, unknown]): readonly JsonRow[] => {
    const name = `${before}${key}`;
    if (isObject(value)) {
      return listRows(value, `${name}.`);
    }
    const text = describe(value);
    return text === '' ? [] : [{ name, value: text }];
  });
}

function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  if (typeof value === 'boolean') {
    return value ? 'yes' : 'no';
  }
  if (Array.isArray(value)) {
    return value.some(each => each instanceof Object)
      ? value.map(each => JSON.stringify(each)).join('\n')
      : value.map(describe).join(', ');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is object {
  return value instanceof Object && !Array.isArray(value);
}
