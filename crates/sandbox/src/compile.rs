//! Makes the JavaScript of a program that was written in TypeScript, and tells its value.
//!
//! A program is a module without imports, with `return` and `await` at its top. It becomes the body of
//! an async function, so what it declares is its own. If its last statement is an expression, that is
//! its value.

mod positions;

use std::path::{Path, PathBuf};

use oxc_allocator::{Allocator, ArenaBox, ArenaVec};
use oxc_ast::{
    ast::{
        Decorator, ExportDefaultDeclarationKind, Expression, FunctionType, ImportDeclaration,
        ImportDeclarationSpecifier, Program, Statement,
    },
    builder::AstBuilder,
};
use oxc_ast_visit::Visit;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType, Span};
use oxc_transformer::{TransformOptions, Transformer};

pub(crate) use self::positions::{Positions, place};
use crate::{Failure, hints};

/// How long a source may be, in bytes. The parser calls itself for whatever is nested.
const MAX_BYTES: usize = 256 << 10;

/// A program that can run.
pub(crate) struct Compiled {
    /// An expression that gives an async function.
    pub(crate) code: String,
    /// Where each part of it was in the source.
    pub(crate) positions: Positions,
}

/// Makes a program of its source.
pub(crate) fn compile(source: &str) -> Result<Compiled, Failure> {
    if source.len() > MAX_BYTES {
        return Err(Failure::new(format!(
            "The program has {} bytes; {MAX_BYTES} are the most that one may have.",
            source.len()
        ))
        .with_hint("Keep data out of it: read it with datasets.read(id) or datasets.query(sql)."));
    }
    let allocator = Allocator::default();
    let options = ParseOptions {
        allow_return_outside_function: true,
        parse_regular_expression: true,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true))
        .with_options(options)
        .parse();
    check(&parsed.diagnostics, source)?;
    let mut program = parsed.program;
    if let Some(import) = parsed.module_record.dynamic_imports.first() {
        return Err(refused(hints::no_modules("import()"), import.span, source));
    }
    if let Some(span) = parsed.module_record.import_metas.first() {
        return Err(refused(hints::no_modules("import.meta"), *span, source));
    }
    let mut decorators = FirstDecorator(None);
    decorators.visit_program(&program);
    if let Some(span) = decorators.0 {
        let failure = Failure::new("SyntaxError: decorators are not supported.")
            .with_hint("Call the function yourself, or leave the decorator out.");
        return Err(refused(failure, span, source));
    }
    give_value(&mut program, &allocator, source)?;
    program.hashbang = None;
    let semantic = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(&program);
    check(&semantic.diagnostics, source)?;
    let scoping = semantic.semantic.into_scoping();
    let transformed =
        Transformer::new(&allocator, Path::new("program.ts"), &TransformOptions::default())
            .build_with_scoping(scoping, &mut program);
    check(&transformed.diagnostics, source)?;
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: Some(PathBuf::from("program")),
        ..CodegenOptions::default()
    };
    let generated = Codegen::new().with_options(options).build(&program);
    let positions = Positions::new(source, &generated.code, generated.map.as_ref());
    Ok(Compiled { code: format!("(async function () {{\n{}\n}})", generated.code), positions })
}

/// The first of what a parser found wrong.
fn check(found: &Diagnostics, source: &str) -> Result<(), Failure> {
    let Some(error) = found.errors().next() else { return Ok(()) };
    Err(syntax_error(error, source))
}

fn syntax_error(error: &OxcDiagnostic, source: &str) -> Failure {
    let mut failure = Failure::new(format!("SyntaxError: {}", error.message));
    if let Some(help) = &error.help {
        failure = failure.with_hint(help.clone());
    }
    match error.labels.first() {
        Some(label) => failure.at(place(source, label.offset() as usize), source),
        None => failure,
    }
}

fn refused(failure: Failure, span: Span, source: &str) -> Failure {
    failure.at(place(source, span.start as usize), source)
}

/// Takes away what belongs to modules, and has the program return its value.
fn give_value<'a>(
    program: &mut Program<'a>,
    allocator: &'a Allocator,
    source: &str,
) -> Result<(), Failure> {
    let builder = AstBuilder::new(allocator);
    let body = std::mem::replace(&mut program.body, ArenaVec::new_in(&allocator));
    let mut value = None;
    for statement in body {
        let span = statement.span();
        match statement {
            Statement::ImportDeclaration(import) => {
                if !is_of_types(&import) {
                    let what = format!("import … from {:?}", import.source.value.as_str());
                    return Err(refused(hints::no_modules(&what), span, source));
                }
            }
            Statement::ExportAllDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::TSImportEqualsDeclaration(_) => {
                return Err(refused(hints::no_modules("export … from"), span, source));
            }
            Statement::ExportNamedDeclaration(_) | Statement::TSNamespaceExportDeclaration(_) => {}
            Statement::ExportDeclaration(export) => {
                program.body.push(export.unbox().declaration.into());
            }
            Statement::TSExportAssignment(export) => value = Some(export.unbox().expression),
            Statement::ExportDefaultDeclaration(export) => {
                value = exported(export.unbox().declaration, &mut program.body, &builder);
            }
            statement => program.body.push(statement),
        }
    }
    if value.is_none()
        && matches!(program.body.last(), Some(Statement::ExpressionStatement(_)))
        && let Some(Statement::ExpressionStatement(last)) = program.body.pop()
    {
        value = Some(last.unbox().expression);
    }
    // A text by itself is read as a directive, like 'use strict'.
    if program.body.is_empty()
        && value.is_none()
        && let Some(directive) = program.directives.pop()
    {
        value = Some(Expression::StringLiteral(ArenaBox::new_in(directive.expression, &allocator)));
    }
    match value {
        Some(value) => {
            let statement = Statement::new_return_statement(value.span(), Some(value), &builder);
            program.body.push(statement);
            Ok(())
        }
        None => calls_something(program, source),
    }
}

/// What `export default` gives. A declaration with a name stays one.
fn exported<'a>(
    declaration: ExportDefaultDeclarationKind<'a>,
    body: &mut ArenaVec<'a, Statement<'a>>,
    builder: &AstBuilder<'a>,
) -> Option<Expression<'a>> {
    match declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
            let Some(id) = &function.id else {
                function.r#type = FunctionType::FunctionExpression;
                return Some(Expression::FunctionExpression(function));
            };
            let value = Expression::new_identifier(id.span, id.name, builder);
            body.push(Statement::FunctionDeclaration(function));
            Some(value)
        }
        ExportDefaultDeclarationKind::ClassDeclaration(class) => {
            body.push(Statement::ClassDeclaration(class));
            None
        }
        ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
            body.push(Statement::TSInterfaceDeclaration(interface));
            None
        }
        declaration => Expression::try_from(declaration).ok(),
    }
}

/// A program that declares functions and nothing else does nothing.
fn calls_something(program: &Program<'_>, source: &str) -> Result<(), Failure> {
    let mut last = None;
    for statement in &program.body {
        match statement {
            Statement::FunctionDeclaration(function) => last = Some(function),
            Statement::TSInterfaceDeclaration(_) | Statement::TSTypeAliasDeclaration(_) => {}
            _ => return Ok(()),
        }
    }
    let Some(function) = last else { return Ok(()) };
    let name = function.id.as_ref().map_or("main", |id| id.name.as_str());
    let failure = Failure::new("The program declares functions and calls none of them.")
        .with_hint(format!("End it with: return await {name}();"));
    Err(refused(failure, function.span, source))
}

fn is_of_types(import: &ImportDeclaration<'_>) -> bool {
    let is_type = |specifier: &ImportDeclarationSpecifier<'_>| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(specifier) => specifier.import_kind.is_type(),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
        | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => false,
    };
    let specifiers = import.specifiers.as_ref();
    import.import_kind.is_type()
        || specifiers.is_some_and(|all| !all.is_empty() && all.iter().all(is_type))
}

struct FirstDecorator(Option<Span>);

impl<'a> Visit<'a> for FirstDecorator {
    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.0.get_or_insert(decorator.span);
    }
}
