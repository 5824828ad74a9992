import { join } from 'node:path'
import { defineConfig } from 'vite'

/** What every page needs, the log-in included. */
const MAIN =
  /\/src\/(main|frame\/logo|parts\/(page|card|untrusted-text|bind-text|action\/(use-action|action-failure)))\.tsx?$|\/(TextInput|Button|ActionIcon|use-uncontrolled)\.mjs$/
/** What signed-in people see around each page, and the parts of most lists. */
const FRAME =
  /\/src\/(frame\/place-route|parts\/(money|crypto-amount|empty-state|loaded-dialog|action\/action-button|table\/[\w-]+)|pages\/money\/invoice-columns)\.tsx?$|\/(contracts\/zone-days|session\/use-zone)\.ts$|\/NativeSelect\.mjs$|icons\/Icon(Inbox|Plus|Download|ExternalLink)\./

/**
 * Every file costs a way there and back, six at a time where a proxy speaks HTTP/1.1, and the first data needs two of the six. So a page
 * that people open first is five scripts: `first`, which runs before the others, `vendor` with the libraries of all pages, `main`, `frame`
 * and the page itself. Each group takes along what its modules import. A dialog and a menu are separate files.
 */
const GROUPS = [
  { name: 'first', test: /\/src\/(first\/|start\.ts)/, priority: 5 },
  {
    name: 'vendor',
    test: /node_modules\/(preact|react-router|@tanstack|@trpc|clsx)\//,
    priority: 4,
  },
  { name: 'main', test: MAIN, priority: 3 },
  { name: 'login', test: /\/src\/pages\/login\/log-in-forms\./, priority: 2 },
  { name: 'frame', test: FRAME, priority: 1 },
  { name: 'lists', test: /\/src\/pages\/money\/(period-\w+|csv-button)\.tsx?$/, priority: 0 },
  // Without what only menus, hints and dialogs need, which are loaded when one opens.
  { name: 'shared', test: /^(?!.*(floating-ui|components\/Portal\/))/, minShareCount: 10, priority: 0 },
]

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // React and React DOM are four fifths of what Preact replaces; sources and libraries are written for React.
  resolve: {
    alias: [
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
      { find: /^react$/, replacement: join(import.meta.dirname, 'src/react.ts') },
    ],
  },
  build: {
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_000,
    // Every page loads the names of all chunks, in which a hash does not compress: seven characters are enough to tell builds apart.
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS }, chunkFileNames: 'assets/[name]-[hash:7].js' } },
  },
})
