import { readFileSync } from 'node:fs';

const readme = readFileSync('README.md', 'utf8');

/** The commands of one section of the root README, and of nothing below its next heading of the second level. */
export function commandsOf(title: string): string {
  const section = readme.slice(readme.indexOf(`## ${title}`)).split('\n## ')[0]!;
  return [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1]!).join('\n');
}

/** The first section, which makes the functions and objects that the others use, for one account instead of the local installation. */
export function firstCommands({ url, token }: { url: string; token: string | null }): string {
  return commandsOf('First payment in five minutes').replace(/^API=.*$/m, `API='${url}'; TOKEN='${token}'`);
}
