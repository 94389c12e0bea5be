// Jest 30 on ES modules: sources are transformed by swc, so that decorators keep their metadata for Nest.
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('..', import.meta.url));

const swc = [
  '@swc/jest',
  {
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      target: 'es2022',
    },
    module: { type: 'es6' },
  },
];

const shared = {
  rootDir,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transformIgnorePatterns: ['/node_modules/(?!(content-disposition|cookie)/)'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.signalbox/'],
};

export default {
  rootDir,
  testTimeout: 180_000,
  testSequencer: '<rootDir>/.config/jest.sequencer.mjs',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,workflows,activities,libs}/**/*.spec.ts'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/support/global.setup.mjs',
      globalTeardown: '<rootDir>/test/support/global.teardown.mjs',
    },
  ],
};
