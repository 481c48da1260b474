import js from '@eslint/js';
import jsdoc from 'eslint-plugin-jsdoc';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['labextension/lib', 'labextension/src/api/wire.ts', 'src/**'] },
  js.configs.recommended,
  {
    files: ['labextension/**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: 'labextension/tsconfig.tests.json',
        tsconfigRootDir: import.meta.dirname
      }
    },
    plugins: { 'react-hooks': hooks, jsdoc },
    rules: {
      ...hooks.configs.recommended.rules,
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error'
    }
  },
  {
    files: ['labextension/src/**/*.{ts,tsx}'],
    plugins: { jsdoc },
    rules: {
      'jsdoc/require-jsdoc': [
        'error',
        {
          publicOnly: true,
          require: { ClassDeclaration: true, FunctionDeclaration: true, MethodDefinition: true },
          contexts: [
            'TSInterfaceDeclaration',
            'TSTypeAliasDeclaration',
            'ExportNamedDeclaration > VariableDeclaration'
          ],
          checkGetters: false,
          checkConstructors: false
        }
      ]
    }
  },
  {
    files: ['labextension/src/models/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['react', 'react-dom', '**/components/**'],
              message: 'Models stay free of React: components draw them.'
            }
          ]
        }
      ]
    }
  },
  {
    files: ['labextension/scripts/*.mjs', '*.mjs'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } }
  }
);
