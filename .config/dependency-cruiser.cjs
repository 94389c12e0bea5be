// The import law: which room may import which, and what it must never reach, even through others.
// `import type` is invisible here: it leaves nothing in the compiled code.
const { builtinModules } = require('node:module');

const rooms = '^(apps|workflows|activities|libs)/';
const packages = (...names) => `node_modules/(${names.join('|')})/`;
const database = packages('drizzle-orm', 'pg');
const nest = packages('@nestjs');
const temporal = packages('@temporalio');
const zod = packages('zod');
const node = `^(node:)?(${builtinModules.filter((name) => !name.startsWith('_')).join('|')})$`;
const io = `${node}|${packages('undici', 'axios', 'fastify', 'pino', 'prom-client')}`;

/** The room imports only itself and the named rooms; npm packages are limited by what it must never reach. */
function mayImport(room, others) {
  const own = `^${room}/`;
  const allowed = others.length === 0 ? own : `${own}|^(${others.join('|')})/`;
  return {
    name: `${room.replaceAll('/', '-')}-imports`,
    comment: `${room} may import ${others.length === 0 ? 'no other room' : others.join(', ')}`,
    severity: 'error',
    from: { path: own },
    to: { path: rooms, pathNot: allowed },
  };
}

/** The room must not depend on these, not even through what it imports. */
function neverReaches(room, what, path) {
  return {
    name: `${room.replaceAll('/', '-')}-never-${what}`,
    comment: `${room} must never reach ${what}`,
    severity: 'error',
    from: { path: `^${room}/` },
    to: { path, reachable: true },
  };
}

const libs = (...names) => names.map((name) => `libs/${name}`);

module.exports = {
  forbidden: [
    { ...mayImport('libs/errors', []), to: { pathNot: '^libs/errors/' } },
    mayImport('libs/domain', libs('errors')),
    mayImport('libs/domain/subscription/model', []),
    neverReaches('libs/domain', 'io', io),
    neverReaches('libs/domain', 'zod', zod),
    neverReaches('libs/domain', 'database', database),
    mayImport('libs/views', libs('domain', 'errors')),
    neverReaches('libs/views', 'io', io),
    neverReaches('libs/views', 'database', database),
    mayImport('libs/contracts', libs('domain', 'errors')),
    neverReaches('libs/contracts', 'zod', zod),
    neverReaches('libs/contracts', 'database', database),
    mayImport('libs/db', libs('domain', 'errors', 'views')),
    neverReaches('libs/db', 'nest', nest),
    neverReaches('libs/db', 'temporal', temporal),
    mayImport('libs/processors', libs('domain', 'errors')),
    neverReaches('libs/processors', 'database', database),
    neverReaches('libs/processors', 'temporal', temporal),
    neverReaches('libs/processors', 'nest', nest),
    mayImport('workflows', libs('contracts', 'domain', 'errors')),
    neverReaches('workflows', 'database', database),
    neverReaches('workflows', 'nest', nest),
    neverReaches('workflows', 'zod', zod),
    neverReaches('workflows', 'node', node),
    mayImport('libs/payments', libs('db', 'processors', 'domain', 'errors', 'views')),
    neverReaches('libs/payments', 'nest', nest),
    neverReaches('libs/payments', 'temporal', temporal),
    mayImport('activities', ['libs/(?!temporal/)[^/]+']),
    neverReaches('activities', 'workflows', '^workflows/'),
    neverReaches('activities', 'apps', '^apps/'),
    // The one app that another may import: the API serves the hosted pages, which are pure rendering.
    mayImport('apps/api', [...libs('contracts', 'db', 'domain', 'errors', 'views', 'temporal', 'config', 'telemetry', 'webhooks', 'payments', 'email'), 'apps/checkout']),
    mayImport('apps/checkout', libs('domain', 'errors')),
    neverReaches('apps/checkout', 'database', database),
    neverReaches('apps/checkout', 'nest', nest),
    neverReaches('apps/checkout', 'temporal', temporal),
    neverReaches('apps/api', 'workflows', '^workflows/'),
    neverReaches('apps/api', 'activities', '^activities/'),
    mayImport('libs/email', libs('domain', 'errors')),
    neverReaches('libs/email', 'database', database),
    neverReaches('libs/email', 'temporal', temporal),
    neverReaches('libs/email', 'nest', nest),
    mayImport('libs/config', libs('errors')),
    neverReaches('libs/config', 'database', database),
    neverReaches('libs/config', 'temporal', temporal),
    neverReaches('libs/config', 'nest', nest),
    mayImport('libs/telemetry', libs('errors')),
    neverReaches('libs/telemetry', 'database', database),
    neverReaches('libs/telemetry', 'temporal', temporal),
    neverReaches('libs/telemetry', 'nest', nest),
    mayImport('libs/temporal', libs('contracts', 'config', 'errors')),
    neverReaches('libs/temporal', 'database', database),
    neverReaches('libs/temporal', 'nest', nest),
    mayImport('libs/webhooks', libs('domain', 'errors')),
    neverReaches('libs/webhooks', 'database', database),
    neverReaches('libs/webhooks', 'temporal', temporal),
    neverReaches('libs/webhooks', 'nest', nest),
    mayImport('apps/worker', ['workflows', 'activities', 'libs']),
    mayImport('apps/cli', ['libs']),
    mayImport('apps/simulator', ['libs']),
    neverReaches('apps/simulator', 'db', '^libs/db/'),
    neverReaches('apps/simulator', 'payments', '^libs/payments/'),
    {
      name: 'subscription-writes-only-from-activities',
      comment: 'a subscription\'s row is written only by its workflow\'s activities',
      severity: 'error',
      from: { path: rooms, pathNot: '^(activities/|libs/db/)' },
      to: { path: '^libs/db/subscription(-step)?\\.writes\\.' },
    },
    {
      name: 'payment-writes-only-from-payments',
      comment: 'a payment\'s row is written only by libs/payments',
      severity: 'error',
      from: { path: rooms, pathNot: '^(libs/payments/|libs/db/)' },
      to: { path: '^libs/db/payment\\.writes\\.' },
    },
    {
      name: 'no-circle',
      comment: 'two files that need each other are one, or miss a third',
      severity: 'error',
      from: { path: rooms },
      to: { circular: true },
    },
    {
      name: 'no-test-in-production',
      comment: 'what runs never imports test/',
      severity: 'error',
      from: { path: rooms },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$|^apps/dashboard/|/dist' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: false,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'], extensions: ['.ts', '.js', '.mjs', '.cjs'] },
  },
};
