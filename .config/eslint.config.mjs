import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const focused = {
  selector:
    'MemberExpression[object.name=/^(it|test|describe)$/][property.name="only"], :not(ConditionalExpression) > MemberExpression[object.name=/^(it|test|describe)$/][property.name=/^(skip|todo)$/], CallExpression[callee.name=/^(fit|fdescribe|xit|xdescribe|xtest)$/]',
  message: 'Every test runs, always (one that needs a tool of the machine may be skipped by a condition).',
};
const sleep = {
  selector: 'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"]',
  message: 'Wait for a condition (`eventually` of test/support), not for time.',
};
const clock = {
  selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"], NewExpression[callee.name="Date"][arguments.length=0], CallExpression[callee.object.name="Math"][callee.property.name="random"], MemberExpression[object.name="performance"][property.name="now"]',
  message: 'This room has no clock and no chance: take the instant as an argument.',
};
const environment = {
  selector: 'MemberExpression[object.name="process"][property.name="env"]',
  message: 'libs/config reads the environment once; take the value from `Config`.',
};
const httpException = {
  selector: 'ThrowStatement > NewExpression[callee.name=/(HttpException|Exception)$/]',
  message: 'Throw a DomainError with a code of the catalogue; the API renders it.',
};

export default defineConfig(
  { ignores: ['.config/', 'node_modules/', 'dist*/', '.signalbox/', 'coverage/', 'apps/dashboard/', '**/generated/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: process.cwd() } },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-debugger': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-constant-binary-expression': 'error',
      'no-self-compare': 'error',
      'no-unreachable': 'error',
      'no-fallthrough': 'error',
      'no-restricted-syntax': ['error', focused],
    },
  },
  {
    files: ['libs/domain/**/*.ts', 'libs/payments/**/*.ts', 'workflows/**/*.ts'],
    rules: { '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }] },
  },
  { files: ['**/*.spec.ts'], rules: { 'no-restricted-syntax': ['error', focused, sleep] } },
  { files: ['libs/domain/**/*.ts', 'libs/views/**/*.ts'], ignores: ['**/*.spec.ts'], rules: { 'no-restricted-syntax': ['error', focused, clock, environment] } },
  {
    files: ['apps/{api,worker,simulator}/**/*.ts', 'activities/**/*.ts', 'workflows/**/*.ts', 'libs/{db,processors,payments,webhooks,temporal,telemetry,contracts}/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/main.ts'],
    rules: { 'no-restricted-syntax': ['error', focused, environment, httpException] },
  },
  {
    files: ['**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-globals': ['error', { name: 'describe', message: 'Tests stand in *.spec.ts.' }, { name: 'it', message: 'Tests stand in *.spec.ts.' }] },
  },
);
