"""Prediction of large runs from small ones by thread graphs (semi-empirical prediction, Xu, Zhang and Sun 1996).

`graph` is the model and its text form, `instantiate` flattens it for given parameters and N, `traverse` runs algorithm
G on the result. Nothing here runs programs or knows the files of studies.
"""
