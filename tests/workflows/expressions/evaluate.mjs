// Reads one workflow with GitHub's own parser and evaluates its jobs in each context that is given on standard input:
// {"workflow": FILE, "contexts": [{"github": ..., "needs": ..., "cancelled": false}]}
// and prints {"errors": [...], "jobs": [[{"id", "runs", "group", "cancels"}]]}: per context, each job.
import {readFileSync} from "fs";
import {NoOperationTraceWriter, convertWorkflowTemplate, parseWorkflow} from "@actions/workflow-parser";
import {Evaluator, Lexer, Parser, data} from "@actions/expressions";

const asked = JSON.parse(readFileSync(0, "utf8"));

function toData(value) {
  if (value === null || value === undefined) return new data.Null();
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "string") return new data.StringData(value);
  if (Array.isArray(value)) return new data.Array(...value.map(toData));
  return new data.Dictionary(...Object.entries(value).map(([key, each]) => ({key, value: toData(each)})));
}

function evaluate(text, context) {
  const failed = Object.values(context.needs ?? {}).some((job) => ["failure", "cancelled", "skipped"].includes(job.result));
  const told = {always: true, cancelled: context.cancelled ?? false, failure: failed, success: !failed && !context.cancelled};
  const functions = Object.entries(told).map(([name, value]) =>
    ({name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value)}));
  const words = {github: {}, inputs: {}, needs: {}, vars: {}, matrix: {}, ...context};
  const tree = new Parser(new Lexer(text).lex().tokens, Object.keys(words), functions).parse();
  const known = new Map(functions.map((each) => [each.name, each]));
  return new Evaluator(tree, toData(words), known).evaluate();
}

const truthy = (value) => !(value.kind === data.Kind.Null || value.value === false || value.value === 0 || value.value === "");

function text(token, context) {
  if (token === undefined) return null;
  return token.isExpression ? evaluate(token.expression, context).coerceString() : token.toString();
}

function entry(token, name) {
  for (let at = 0; token && token.count !== undefined && at < token.count; at += 1) {
    if (token.get(at).key.value === name) return token.get(at).value;
  }
  return undefined;
}

const file = {name: asked.workflow, content: readFileSync(asked.workflow, "utf8")};
const parsed = parseWorkflow(file, new NoOperationTraceWriter());

async function main() {
  const template = await convertWorkflowTemplate(parsed.context, parsed.value);
  const jobs = asked.contexts.map((context) => template.jobs.map((job) => ({
    id: job.id.value,
    runs: truthy(evaluate(job.if.expression ?? job.if.toString(), context)),
    group: text(entry(job.concurrency, "group"), context),
    cancels: text(entry(job.concurrency, "cancel-in-progress"), context),
  })));
  const errors = parsed.context.errors.getErrors().map((error) => error.message);
  console.log(JSON.stringify({errors, jobs}));
}

main();
