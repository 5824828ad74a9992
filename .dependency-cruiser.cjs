// Which folder may import which (ARCHITECTURE.md, "Who may know whom"). `npm run check:imports` runs this
// file; test/architecture.test.ts shows each rule fail on a bad import.

const npm = (...names) => `(^|/)node_modules/(${names.join('|')})/`
const tests = '[.](test|fixture)[.]tsx?$'
const web = '^services/(dashboard|checkout/web|api/reference/web)/'
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

module.exports = {
  forbidden: [
    rule(
      'domain-is-pure',
      'The domain decides from values alone: no library, no Node module, no other layer.',
      { path: '^shared/domain/', pathNot: tests },
      { pathNot: '^shared/domain/' },
    ),
    rule(
      'contracts-know-domain-and-zod',
      'A wire format is data: contracts see the domain and zod.',
      { path: '^shared/contracts/', pathNot: tests },
      { pathNot: ['^shared/(domain|contracts)/', npm('zod')] },
    ),
    rule(
      'usecases-know-ports',
      'A use case knows its ports, never a queue, a node or a library that does I/O; node:crypto is arithmetic.',
      { path: '^shared/usecases/', pathNot: tests },
      { pathNot: ['^shared/(domain|contracts|ports|usecases|db)/', '^(node:)?crypto$'] },
    ),
    rule(
      'usecases-know-types-of-stores',
      'The type of a repository is that of its implementation; what runs of it is passed in.',
      { path: '^shared/usecases/', pathNot: tests },
      { path: '^shared/db/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'ports-know-contracts',
      'A port is an interface: it names values of the domain and of contracts, and nothing that runs behind it.',
      { path: '^shared/ports/', pathNot: tests },
      { pathNot: ['^shared/(domain|contracts|ports)/', '^(node:)?crypto$', '^shared/db/.*-models?[.]ts$'] },
    ),
    rule(
      'ports-take-types-of-records',
      'The type of a record follows from the fields of its collection, which stand once; of the store a port takes nothing that runs.',
      { path: '^shared/ports/', pathNot: tests },
      { path: '^shared/db/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'adapters-know-ports',
      'An adapter implements ports; which use case calls it is not its business.',
      { path: '^shared/(db|queues|chains|runtime|config)/', pathNot: tests },
      { path: '^shared/usecases/' },
    ),
    rule(
      'no-barrels',
      'A folder is entered through the file that is meant; a barrel hides which one that is.',
      {},
      { path: '(^|/)index[.][cm]?[jt]sx?$', pathNot: 'node_modules/' },
    ),
    rule(
      'adapters-do-not-meet',
      'db, queues and chains implement ports and do not know each other.',
      { path: '^shared/(db|queues|chains)/', pathNot: tests },
      { path: '^shared/(db|queues|chains|config|runtime)/', pathNot: '^shared/$1/' },
    ),
    rule(
      'definitions-are-data',
      'A chain is a row: definitions, assets and the registry hold data only.',
      { path: '^shared/chains/definitions/', pathNot: tests },
      { pathNot: ['^shared/chains/definitions/', '^shared/domain/'] },
    ),
    rule(
      'runtime-knows-no-store',
      'Logging, configuration and shutdown work without any store, queue or chain.',
      { path: '^shared/(runtime|config)/', pathNot: tests },
      { path: '^shared/(db|queues|chains)/' },
    ),
    rule(
      'shared-never-looks-up',
      'Shared code does not know who uses it.',
      { path: '^shared/', pathNot: tests },
      { path: '^(services|scripts|dev|test|bench)/' },
    ),
    rule(
      'services-are-islands',
      'A service is one process: services meet in the store, never in an import.',
      { path: '^services/([^/]+)/', pathNot: tests },
      // The dashboard sees the type of the interface that serves it, and nothing that runs.
      {
        path: '^services/',
        pathNot: ['^services/$1/', '^services/(context|open-parts)[.]ts$', '^services/admin/app-router[.]ts$'],
      },
    ),
    rule(
      'assemblies-open-nothing',
      'An assembly wires parts that it is given, so that the simulation runs it; main.ts opens connections and devices.',
      { path: '^services/[^/]+/assemble[.]ts$' },
      {
        path: [
          '^shared/(config|runtime)/',
          '^shared/queues/(?!workers[.]ts$)',
          '^shared/chains/create-chain-client[.]ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'dashboard-knows-types-of-admin',
      'What the dashboard takes from the process that serves it is gone when it is built.',
      { path: '^services/dashboard/' },
      { path: '^services/admin/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pages-know-contracts',
      'A page runs in a browser: of shared code it sees contracts, the domain and how pages look.',
      { path: web, pathNot: tests },
      { path: '^(shared|scripts|dev|test)/', pathNot: '^shared/(contracts|domain|styles)/' },
    ),
    rule(
      'processes-know-no-page',
      'A page is served as a file that was built. Its texts and formats also make the pages without JavaScript.',
      { pathNot: [web, tests] },
      { path: web, pathNot: '^services/checkout/web/src/(format/|locales/[^/]+[.]ts$)' },
    ),
    rule(
      'one-writer-of-status',
      'Only applyInvoiceEvent asks transition() for a decision.',
      {
        pathNot: ['^shared/usecases/invoices/apply-invoice-event[.]ts$', '^shared/domain/', '^(test|bench)/', tests],
      },
      { path: '^shared/domain/invoice/transition[.]ts$' },
    ),
    rule(
      'mongo-behind-its-door',
      'shared/db is the only place that knows MongoDB.',
      { path: '^(services|shared)/', pathNot: ['^shared/db/', tests] },
      { path: npm('mongoose', 'mongodb') },
    ),
    rule(
      'redis-behind-its-door',
      'shared/queues is the only place that knows BullMQ and Redis.',
      { path: '^(services|shared)/', pathNot: ['^shared/queues/', tests] },
      { path: npm('bullmq', 'ioredis') },
    ),
    rule(
      'express-at-the-edge',
      'Only processes that speak HTTP to the outside know Express.',
      { path: '^(services|shared)/', pathNot: ['^services/(api|checkout|admin)/', tests] },
      { path: npm('express') },
    ),
    rule(
      'keys-behind-chains',
      'Key arithmetic lives in shared/chains; nothing else derives an address.',
      { path: '^(services|shared)/', pathNot: ['^shared/chains/', tests] },
      { path: npm('@scure/bip32', '@noble/curves', 'ethers') },
    ),
    rule(
      'no-test-code-in-production',
      'What runs in production imports neither tests nor development scripts.',
      { path: '^(services|shared)/', pathNot: tests },
      { path: ['^(test|bench|dev|scripts)/', tests, npm('vitest', 'fast-check', 'autocannon', 'standardwebhooks')] },
    ),
    rule(
      'dev-is-not-the-product',
      'The image has no dev/: only what starts a development installation or runs tests imports it; `pay` loads it when it pays.',
      { path: '^scripts/', pathNot: ['^scripts/(start|demo|machine)/', '^scripts/test(-deep)?[.]mjs$', tests] },
      { path: '^dev/', dynamic: false },
    ),
    rule(
      'clients-stand-alone',
      'A client is installed by itself in a merchant’s program: it knows nothing of this repository and no library; node:crypto checks signatures.',
      { path: '^clients/([^/]+)/src/', pathNot: [...[tests].flat(), '^clients/cli/'] },
      { pathNot: ['^clients/$1/src/', '^(node:)?crypto$'] },
    ),
    rule(
      'product-knows-no-client',
      'The server does not depend on what its callers use: only scripts and tests call it through a client.',
      { path: '^(services|shared)/', pathNot: tests },
      { path: '^clients/' },
    ),
    rule('no-cycles', 'A cycle hides who depends on whom.', {}, { circular: true }),
    rule('no-unresolved', 'Every import resolves.', {}, { couldNotResolve: true }),
    rule(
      'no-undeclared-package',
      'Production code uses declared production dependencies only.',
      { path: '^(services|shared)/', pathNot: [tests, web] },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Programs of a shop run where its own packages are installed.
    exclude: { path: '^(node_modules|[.]cache|[.]data|clients/[^/]+/dist|test/drills/shops/(vendure|medusa))/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
}
